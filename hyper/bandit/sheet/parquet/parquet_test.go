package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

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
		"types": {`column 1 ("day") has values of type INT32, DATE: convert it to numbers`,
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

// written returns a file with the given rows, whose type is a struct.
func written[T any](rows []T, options ...parquet.WriterOption) []byte {
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out, options...)
	must.M1(w.Write(rows))
	must.M(w.Close())
	return out.Bytes()
}

type pair struct {
	X    float64 `parquet:"x"`
	Kind string  `parquet:"kind"`
}

// Each value is read to the bit, in each encoding, compression, version of a page and length of a run, with nulls and
// without.
func TestEncodings(t *testing.T) {
	type row struct {
		Plain   int32    `parquet:"plain,plain"`
		Delta   int32    `parquet:"delta,delta"`
		Long    int64    `parquet:"long,delta,optional"`
		Few     uint64   `parquet:"few,dict"`
		Some    *int64   `parquet:"some,dict,optional"`
		Split   float64  `parquet:"split,split"`
		Half    float32  `parquet:"half,split"`
		Nulls   *float64 `parquet:"nulls,optional"`
		Wild    bool     `parquet:"wild"`
		Lengths string   `parquet:"lengths,delta"`
		Choice  string   `parquet:"choice,dict,optional"`
	}
	var rows []row
	var want [][]string
	for i := range 3000 {
		r := row{Plain: int32(i * 1_000_003), Delta: int32(i*i*7919 - 5), Long: 1 + int64(i%7)<<(i%60),
			Few: uint64(i/100) << 59, Split: math.Sqrt(float64(i)), Half: float32(i) / 3, Wild: i%3 == 0 || i > 500 && i < 900,
			Lengths: strings.Repeat("ab", i%40) + fmt.Sprint(i), Choice: []string{"iris", "poppy"}[i/7%2]}
		cells := []string{fmt.Sprint(r.Plain), fmt.Sprint(r.Delta), fmt.Sprint(r.Long), fmt.Sprint(r.Few), "",
			float(r.Split), float(float64(r.Half)), "", fmt.Sprint(r.Wild), r.Lengths, r.Choice}
		if i%5 > 0 {
			x := int64(i/50) - 30
			r.Some, cells[4] = &x, fmt.Sprint(x)
		}
		if i%2 > 0 || i > 2000 {
			x := -float64(i) / 7
			r.Nulls, cells[7] = &x, float(x)
		}
		rows, want = append(rows, r), append(want, cells)
	}
	for _, version := range []int{1, 2} {
		for _, codec := range []parquet.WriterOption{parquet.Compression(&parquet.Uncompressed),
			parquet.Compression(&parquet.Snappy), parquet.Compression(&parquet.Gzip), parquet.Compression(&parquet.Brotli),
			parquet.Compression(&parquet.Zstd), parquet.Compression(&parquet.Lz4Raw)} {
			s, err := read(written(rows, codec, parquet.DataPageVersion(version), parquet.PageBufferSize(3000),
				parquet.MaxRowsPerRowGroup(1700)))
			if err != nil {
				t.Errorf("version %d: %v", version, err)
				continue
			}
			for i, row := range s.Rows {
				if !slices.Equal(row, want[i]) {
					t.Fatalf("version %d, row %d:\n%q, want\n%q", version, i, row, want[i])
				}
			}
			if len(s.Rows) != len(rows) || s.Header[10] != "choice" {
				t.Errorf("%d rows of %v", len(s.Rows), s.Header)
			}
		}
	}
}

// The largest number of rows of a table is read to the bit, here by one row in 101, in several pages. One more row is too many.
func TestLargest(t *testing.T) {
	if testing.Short() {
		t.Skip("2 million rows")
	}
	n := sheet.MostCells
	rows := make([]pair, n+1)
	for i := range rows {
		rows[i] = pair{math.Sqrt(float64(i)), []string{"even", "odd"}[i%2]}
	}
	s, err := read(written(rows[:n], parquet.Compression(&parquet.Snappy)))
	if err != nil || len(s.Rows) != n {
		t.Fatalf("got %d rows, error %v, want the largest number of rows", len(s.Rows), err)
	}
	for i := 0; i < n; i += 101 {
		if row := s.Rows[i]; row[0] != float(rows[i].X) || row[1] != rows[i].Kind {
			t.Fatalf("row %d is %v, want %v", i, row, rows[i])
		}
	}
	if _, err := read(written(rows)); err == nil || !strings.Contains(err.Error(), "has more than 2000000 numbers") {
		t.Error(err)
	}
}

// Bad files are errors, which say what is wrong.
func TestBadFiles(t *testing.T) {
	good := written([]pair{{1, "a"}, {2, "b"}, {3, "a"}})
	changed := func(at int, with ...byte) []byte {
		out := bytes.Clone(good)
		copy(out[(at+len(out))%len(out):], with)
		return out
	}
	footer := binary.LittleEndian.AppendUint32(nil, math.MaxUint32)
	for want, contents := range map[string][]byte{
		"the file has only 0 bytes":    nil,
		"does not end with the letter": []byte("length,kind\n1,iris\n2,poppy\n"),
		"with the letters PAR1":        changed(-1, 'X'),
		"it is encrypted":              changed(-1, 'E'),
		"declares a footer of 42949":   changed(-8, footer...),
		"the footer is damaged":        changed(-60, bytes.Repeat([]byte{0xff}, 40)...),
		"row group 0, column 1":        changed(4, bytes.Repeat([]byte{0xff}, 12)...),
		"has 1 rows":                   written([]pair{{1, "a"}}),
		"needs at least two columns":   written([]struct{ X float64 }{{1}, {2}}),
		"a cell of 5000 bytes":         written([]pair{{1, "a"}, {2, strings.Repeat("b", 5000)}}),
		`a cell that is not text, "\x`: written([]pair{{1, "a"}, {2, "\xff\xfe"}}),
	} {
		if s, err := read(contents); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, error %v, want %q", s, err, want)
		}
	}
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// mostMemory is the largest number of bytes that reading a file of at most a few kilobytes allocates: the cells of the
// largest table, their texts, a page, a dictionary, and the numbers of an encoding, which grow.
const mostMemory = 1 << 30

// forged returns a file with one row group of two columns, and the given pages in each of them.
func forged(rows int64, kind format.Type, codec format.CompressionCodec, pages ...[]byte) []byte {
	return forgedWith(func(*format.FileMetaData) {}, rows, kind, codec, pages...)
}

// forgedWith returns a forged file with a changed footer.
func forgedWith(change func(f *format.FileMetaData), rows int64, kind format.Type, codec format.CompressionCodec,
	pages ...[]byte) []byte {
	out := []byte("PAR1")
	body := bytes.Join(pages, nil)
	at := int64(len(out))
	out = append(out, body...)
	f := &format.FileMetaData{Version: 1, NumRows: rows, Schema: thrift.Slice[format.SchemaElement]{
		{Name: "schema", NumChildren: thrift.New[int32](2)},
		{Name: "x", Type: thrift.New(kind), RepetitionType: thrift.New(format.Required)},
		{Name: "y", Type: thrift.New(kind), RepetitionType: thrift.New(format.Required)},
	}}
	column := format.ColumnChunk{FileOffset: at, MetaData: format.ColumnMetaData{Type: kind, Codec: codec, NumValues: rows,
		Encoding: thrift.Slice[format.Encoding]{}, PathInSchema: thrift.Slice[string]{"x"},
		TotalCompressedSize: int64(len(body)), TotalUncompressedSize: int64(len(body)), DataPageOffset: at}}
	f.RowGroups = thrift.Slice[format.RowGroup]{{NumRows: rows, Columns: thrift.Slice[format.ColumnChunk]{column, column}}}
	change(f)
	return append(out, ended(nil, must.M1(thrift.Marshal(new(thrift.CompactProtocol), f)))...)
}

// ended returns a file whose footer consists of two parts.
func ended(footer, more []byte) []byte {
	footer = append(footer, more...)
	return append(binary.LittleEndian.AppendUint32(footer, uint32(len(footer))), "PAR1"...)
}

// pageOf returns a page that declares the given number of values and bytes.
func pageOf(e format.Encoding, values, size int, body ...byte) []byte {
	h := &format.PageHeader{Type: format.DataPage, CompressedPageSize: int32(len(body)), UncompressedPageSize: int32(size),
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: int32(values), Encoding: e,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})}
	if e == oldDictionary { // of a dictionary here
		h.Type = format.DictionaryPage
		h.DataPageHeader = thrift.Null[format.DataPageHeader]{}
		h.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: int32(values), Encoding: e})
	}
	return append(must.M1(thrift.Marshal(new(thrift.CompactProtocol), h)), body...)
}

// Damaged and unusual files are errors, which say what is wrong.
func TestDamaged(t *testing.T) {
	two := pageOf(format.Plain, 2, 16, make([]byte, 16)...)
	with := func(change func(f *format.FileMetaData)) []byte { return forgedWith(change, 2, format.Double, 0, two) }
	of := func(kind format.Type, pages ...[]byte) []byte { return forged(2, kind, 0, pages...) }
	column := func(f *format.FileMetaData) *format.ColumnChunk { return &f.RowGroups[0].Columns[0] }
	if s, err := read(of(format.Double, two)); err != nil || fmt.Sprint(s.Rows) != "[[0 0] [0 0]]" {
		t.Fatal(s, err)
	}
	for want, contents := range map[string][]byte{
		`column 1 ("x"): is in another file`: with(func(f *format.FileMetaData) { column(f).FilePath = "b" }),
		`column 1 ("x"): it is encrypted`: with(func(f *format.FileMetaData) {
			column(f).CryptoMetadata.Value = &format.EncryptionWithFooterKey{}
		}),
		"bytes from byte 1099511627776": with(func(f *format.FileMetaData) { column(f).MetaData.DataPageOffset = 1 << 40 }),
		"should have -5 bytes":          with(func(f *format.FileMetaData) { column(f).MetaData.TotalCompressedSize = -5 }),
		"ends after 0 of 2 rows":        with(func(f *format.FileMetaData) { column(f).MetaData.TotalCompressedSize = 0 }),
		"declares 2 rows of 1 columns": with(func(f *format.FileMetaData) {
			f.RowGroups[0].Columns = f.RowGroups[0].Columns[:1]
		}),
		"its schema of 3 elements is no tree": with(func(f *format.FileMetaData) {
			f.Schema[0].NumChildren.V = 5
		}),
		"its schema is empty": with(func(f *format.FileMetaData) { f.Schema = f.Schema[:0] }),
		"a name of 5000 bytes": with(func(f *format.FileMetaData) {
			f.Schema[1].Name = strings.Repeat("x", 5000)
		}),
		"INT32, DATE: convert": with(func(f *format.FileMetaData) {
			f.Schema[1].Type.V, f.Schema[1].ConvertedType = format.Int32, thrift.New(deprecated.Date)
		}),
		"nulls with the encoding BIT_PACKED": forgedWith(func(f *format.FileMetaData) {
			f.Schema[1].RepetitionType.V = format.Optional
		}, 2, format.Double, 0, bytes.Replace(two, []byte{byte(format.Plain), 0x15, 2 * byte(format.RLE)},
			[]byte{byte(format.Plain), 0x15, 2 * byte(format.BitPacked)}, 1)),
		"ends after 1 of 2 rows":            of(format.Double, pageOf(format.Plain, 1, 8, make([]byte, 8)...)),
		"has more values than 2 rows":       of(format.Double, pageOf(format.Plain, 3, 24, make([]byte, 24)...)),
		"a page ends before its last value": of(format.Double, pageOf(format.Plain, 2, 15, make([]byte, 15)...)),
		"DOUBLE with the encoding DELTA":    of(format.Double, pageOf(format.DeltaBinaryPacked, 2, 1, 1)),
		"value 3 of a dictionary of 0":      of(format.Double, pageOf(format.RLEDictionary, 2, 3, 2, 4, 3)),
		"numbers of 33 bits":                of(format.Double, pageOf(format.RLEDictionary, 2, 3, 33, 4, 3)),
		"a page declares 16 bytes, but":     of(format.Double, two[:len(two)-1]),
		"compressed with LZO":               forged(2, format.Double, format.LZO, two),
	} {
		if s, err := read(contents); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, error %v, want %q", s, err, want)
		}
	}
}

// uvarints returns numbers as they are in an encoding.
func uvarints(x ...uint64) (out []byte) {
	for _, x := range x {
		out = binary.AppendUvarint(out, x)
	}
	return out
}

// A small file that declares much, in its footer, a page, an encoding or compressed bytes, is an error before memory is
// allocated for it, or a table that is not too large.
func TestBombs(t *testing.T) {
	n := sheet.MostCells
	run := append([]byte{0}, uvarints(math.MaxInt32<<1)...)
	// All texts begin with the same 4000 letters.
	const texts = 100_000
	prefixes, lengths, letters := make([]int32, texts), make([]int32, texts), bytes.Repeat([]byte("a"), 4000)
	for i := range texts {
		prefixes[i], lengths[i], letters = 4000, 6, fmt.Appendf(letters, "%06d", i)
	}
	prefixes[0], lengths[0] = 0, 4006
	var encoding delta.BinaryPackedEncoding
	long := bytes.Join([][]byte{must.M1(encoding.EncodeInt32(nil, prefixes)), must.M1(encoding.EncodeInt32(nil, lengths)),
		letters}, nil)
	deltas := func(x ...uint64) []byte { return pageOf(format.DeltaBinaryPacked, 2, 20, uvarints(x...)...) }
	const little, more = 1 << 20, 4 << 20
	bombs := map[string]struct {
		contents []byte
		want     string // "" if the file can be read
		most     uint64
	}{
		"rows":    {forged(1<<62, format.Double, 0), "has more than 2000000 numbers", little},
		"groups":  {ended([]byte{2<<4 | 9, 0xfc}, uvarints(math.MaxInt32)), "a list of 2147483647", little},
		"lists":   {ended([]byte{9<<4 | 9}, bytes.Repeat([]byte{1<<4 | 9}, 1<<20)), "a list of lists", more},
		"structs": {ended(nil, bytes.Repeat([]byte{9<<4 | 12}, 1<<20)), "more than 20 structs", more},
		"structs in a list": {ended([]byte{4<<4 | 9, 1<<4 | 12}, bytes.Repeat([]byte{1<<4 | 12}, 1<<20)),
			"more than 20 structs", more},
		"maps": {ended(nil, []byte{9<<4 | 11, 1}), "a map", little},
		"page": {forged(2, format.Double, format.Zstd, pageOf(format.Plain, 2, math.MaxInt32, 1)),
			"a page of 2147483647 bytes", little},
		"values": {forged(2, format.Double, 0, pageOf(format.Plain, math.MaxInt32, 1, 1)),
			"a page of 2147483647 values", little},
		"dictionary": {forged(2, format.Double, 0, pageOf(oldDictionary, math.MaxInt32, 1, 1)),
			"a page of 2147483647 values", little},
		"dictionary of booleans": {forged(2, format.Boolean, 0, pageOf(oldDictionary, n, 1, 1)),
			"a dictionary of type BOOLEAN", little},
		"dictionaries": {forged(2, format.Int64, format.Zstd, bytes.Repeat(pageOf(oldDictionary, n, 8*n,
			compressed(make([]byte, 8*n))[format.Zstd]...), 70)), "more than 1073741824 bytes without", mostMemory},
		"run": {forged(int64(n), format.Double, 0, pageOf(oldDictionary, 1, 8, make([]byte, 8)...),
			pageOf(format.RLEDictionary, n, len(run), run...)), "", mostMemory},
		"run of booleans": {forged(2, format.Boolean, 0, pageOf(format.RLE, 2, 4, 4, 0, 0, 0, 255, 255, 255, 255)),
			"a page ends before", little},
		"delta":  {forged(2, format.Int64, 0, deltas(128, 4, 1<<40, 0)), "a page of 2 values has 1099511627776", little},
		"blocks": {forged(2, format.Int64, 0, deltas(1<<40, 1, 2, 0)), "a page has blocks of 1099511627776", little},
		"bits":   {forged(2, format.Int64, 0, deltas(32, 1, 2, 0, 0, 72, 0)), "a page has differences of 72 bits", little},
		"texts": {forged(texts, format.ByteArray, 0, pageOf(format.DeltaByteArray, texts, len(long), long...)),
			"more than 268435456 bytes of text", mostMemory},
	}
	for name, b := range bombs {
		if testing.Short() && b.most == mostMemory {
			continue
		}
		if used := allocated(func() {
			_, err := read(b.contents)
			if (err == nil) != (b.want == "") || err != nil && !strings.Contains(err.Error(), b.want) {
				t.Errorf("%s: error %v, want %q", name, err, b.want)
			}
		}); used > b.most {
			t.Errorf("%s, %d bytes: %d bytes of memory", name, len(b.contents), used)
		}
	}
	if testing.Short() {
		return
	}
	for codec, bomb := range compressedBombs() {
		used := allocated(func() {
			_, err := read(forged(2, format.Double, codec, pageOf(format.Plain, 2, 16, bomb...)))
			if err == nil || !strings.Contains(err.Error(), "cannot be read as Parquet: row group 0, column 1") {
				t.Errorf("%v: error %v", codec, err)
			}
		})
		if used > 40<<20 {
			t.Errorf("%v, %d bytes: %d bytes of memory", codec, len(bomb), used)
		}
	}
}

// No file makes the reader panic, use much memory, or return a table that is not valid. The seeds are files of other
// programs.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(files) < 8 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		f.Add(must.M1(os.ReadFile(file)))
	}
	f.Fuzz(func(t *testing.T, contents []byte) {
		var s *sheet.Sheet
		var err error
		if used := allocated(func() { s, err = read(contents) }); used > mostMemory {
			t.Errorf("%d bytes: %d bytes of memory", len(contents), used)
		}
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
