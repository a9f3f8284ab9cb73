package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
)

// flowers holds the cells of the table of testdata/make.py.
const flowers = "[[length half count small large wild colour kind] " +
	"[1.5 0.5 1 200 4294967295 true red iris] [2.25 1.5 -2 1 1 false blue poppy] [-3 2.5 3 255 2 true red iris] " +
	"[1e-07 3.5 1099511627776 0 3 true green daisy] [4 0.10000000149011612 5 7 4 false blue iris]]"

// Files of other programs have the same cells, whatever their encodings and compression.
func TestFilesOfOthers(t *testing.T) {
	for _, name := range []string{"pyarrow", "groups", "plain", "required", "polars", "duckdb"} {
		s, err := sheet.Read(filepath.Join("testdata", name+".parquet"))
		if err != nil {
			t.Errorf("%s: got error %v, want none", name, err)
			continue
		}
		if got := fmt.Sprint(append([][]string{s.Header}, s.Rows...)); got != flowers {
			t.Errorf("%s: got cells %s", name, got)
		}
	}
}

// Nulls are missing values, which are reported by row. Dates and lists cannot be cells.
func TestNoCells(t *testing.T) {
	for name, want := range map[string][]string{
		"nulls": {`row 2, column 3 ("count"): the value "" is missing`, "row 4, column 3"},
		"types": {`column 1 ("day") has values of type INT32, Date: convert it to numbers`,
			`"pair.list.element") is nested or a list`},
	} {
		_, err := sheet.Read(filepath.Join("testdata", name+".parquet"))
		for _, want := range want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}

// parquetOf makes a file with a column of numbers and a column of strings.
func parquetOf(t testing.TB, numbers []float64, kinds []string, options ...parquet.WriterProperty) []byte {
	t.Helper()
	fields := schema.FieldList{schema.NewFloat64Node("x", parquet.Repetitions.Required, -1),
		schema.NewByteArrayNode("kind", parquet.Repetitions.Required, -1)}
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1))
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root, file.WithWriterProps(parquet.NewWriterProperties(options...)))
	texts := make([]parquet.ByteArray, len(kinds))
	for i, kind := range kinds {
		texts[i] = parquet.ByteArray(kind)
	}
	g := must.M1(w.AppendRowGroupChecked())
	x := must.M1(g.NextColumn()).(*file.Float64ColumnChunkWriter)
	must.M1(x.WriteBatch(numbers, nil, nil))
	must.M(x.Close())
	kind := must.M1(g.NextColumn()).(*file.ByteArrayColumnChunkWriter)
	must.M1(kind.WriteBatch(texts, nil, nil))
	must.M(kind.Close())
	must.M(g.Close())
	must.M(w.Close())
	return out.Bytes()
}

// The largest number of rows of a table is read to the bit, in several pages and batches. One more row is too many.
func TestLargest(t *testing.T) {
	if testing.Short() {
		t.Skip("2 million rows")
	}
	numbers, kinds := make([]float64, sheet.MostCells+1), make([]string, sheet.MostCells+1)
	for i := range numbers {
		numbers[i], kinds[i] = math.Sqrt(float64(i)), []string{"even", "odd"}[i%2]
	}
	n := sheet.MostCells
	s, err := read(parquetOf(t, numbers[:n], kinds[:n], parquet.WithCompression(compress.Codecs.Snappy)))
	if err != nil || len(s.Rows) != n {
		t.Fatalf("got %d rows, error %v, want the largest number of rows", len(s.Rows), err)
	}
	for i := range n {
		if s.Rows[i][0] != fmt.Sprint(numbers[i]) && s.Rows[i][0] != fmt.Sprintf("%g", numbers[i]) ||
			s.Rows[i][1] != kinds[i] {
			t.Fatalf("row %d is %v, want %v and %s", i, s.Rows[i], numbers[i], kinds[i])
		}
	}
	if _, err := read(parquetOf(t, numbers, kinds)); err == nil ||
		!strings.Contains(err.Error(), "has more than 2000000 numbers") {
		t.Error(err)
	}
}

// Bad files are errors, which say what is wrong.
func TestBadFiles(t *testing.T) {
	good := parquetOf(t, []float64{1, 2, 3}, []string{"a", "b", "a"})
	changed := func(at int, with ...byte) []byte {
		out := bytes.Clone(good)
		copy(out[(at+len(out))%len(out):], with)
		return out
	}
	footer := binary.LittleEndian.AppendUint32(nil, math.MaxUint32)
	for want, contents := range map[string][]byte{
		"file too small":               nil,
		"file is smaller than":         []byte("length,kind\n1,iris\n2,poppy\n"),
		"magic bytes not found":        changed(-1, 'X'),
		"than indicated metadata":      changed(-8, footer...),
		"could not read footer":        changed(-60, bytes.Repeat([]byte{0xff}, 40)...),
		"row group 0, column 1":        changed(4, bytes.Repeat([]byte{0xff}, 12)...),
		"has 1 rows":                   parquetOf(t, []float64{1}, []string{"a"}),
		"a cell of 5000 bytes":         parquetOf(t, []float64{1, 2}, []string{"a", strings.Repeat("b", 5000)}),
		`a cell that is not text, "\x`: parquetOf(t, []float64{1, 2}, []string{"a", "\xff\xfe"}),
	} {
		if s, err := read(contents); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, error %v, want %q", s, err, want)
		}
	}
}

// No file makes the reader panic, or return a table that is not valid. The seeds are files of other programs.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(files) < 8 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		contents, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(contents)
	}
	f.Fuzz(func(t *testing.T, contents []byte) {
		s, err := read(contents)
		if err != nil {
			return
		}
		if len(s.Header) < 2 || len(s.Rows) < 2 || len(s.Rows)*(len(s.Header)-1) > sheet.MostCells {
			t.Errorf("got %d rows of %d columns, want a valid table", len(s.Rows), len(s.Header))
		}
		for _, row := range s.Rows {
			if len(row) != len(s.Header) {
				t.Errorf("a row has %d cells, want %d", len(row), len(s.Header))
			}
		}
	})
}
