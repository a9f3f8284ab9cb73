package lab_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/internal/toys"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// toyPiece returns the text of complete results of toys.
func toyPiece(t testing.TB) string {
	t.Helper()
	text := must.M1(os.ReadFile(filepath.Join(toys.Write(t, []int{2, 3}, 2, 20, 5, toys.Linear), lab.ResultsFile)))
	return string(text)
}

// gzipped writes what fill writes to a new file, gzipped.
func gzipped(t testing.TB, fill func(io.Writer)) string {
	t.Helper()
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	fill(z)
	must.M(z.Close())
	path := filepath.Join(t.TempDir(), "piece.jsonl.gz")
	must.M(os.WriteFile(path, out.Bytes(), 0o600))
	return path
}

// A small file that unpacks to many megabytes is refused before all of it is read, whatever its contents are.
func TestFileBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks many megabytes")
	}
	good := toyPiece(t)
	header, _, _ := strings.Cut(good, "\n")
	blank, zero := strings.Repeat(" ", 1<<20), strings.Repeat("0", 1<<20)
	row := `{"entry":0,"run":0,"seed":5,"period":1,"cumulative_regret":1,"digest":1}` + "\n"
	many := func(text string, megabytes int) func(io.Writer) {
		return func(w io.Writer) {
			for range megabytes << 20 / len(text) {
				_, _ = io.WriteString(w, text)
			}
		}
	}
	for name, fill := range map[string]func(io.Writer){
		"a line without end":   func(w io.Writer) { _, _ = io.WriteString(w, good); many(zero, 60)(w) },
		"a header without end": many(blank, 100),
		"a row again": func(w io.Writer) {
			_, _ = io.WriteString(w, header+"\n")
			many(strings.Repeat(row, 1000), 20)(w)
		},
		"empty rows": func(w io.Writer) {
			_, _ = io.WriteString(w, header+"\n")
			many(strings.Repeat("{}\n", 1000), 8)(w)
		},
		"more rows than periods": func(w io.Writer) {
			_, _ = io.WriteString(w, strings.Replace(header, `"runs":2`, `"runs":9000000000000`, 1)+"\n"+row)
		},
		"endless periods": func(w io.Writer) {
			_, _ = io.WriteString(w, strings.Replace(header, `"periods":20`, `"periods":9223372036854775807`,
				1)+"\n"+row)
		},
	} {
		path := gzipped(t, fill)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := lab.ReadFile(path, toys.Known)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, lab.ErrResults) {
			t.Errorf("%s: %v", name, err)
		}
		limit := uint64(50)
		if name == "a header without end" { // a header has up to 32 MB
			limit = 200
		}
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > limit {
			t.Errorf("%s: reading took %d MB of memory", name, used)
		}
	}
}

// A row that the Spec cannot have, or that occurs twice, is refused.
func TestRowsAreOfTheSpec(t *testing.T) {
	good := toyPiece(t)
	lines := strings.SplitAfter(strings.TrimSuffix(good, "\n"), "\n")
	last := lines[len(lines)-1]
	for name, bad := range map[string]string{
		"twice":             last,
		"another seed":      strings.Replace(last, `"seed":6`, `"seed":7`, 1),
		"another run":       strings.Replace(last, `"run":1`, `"run":2`, 1),
		"a negative run":    strings.Replace(last, `"run":1`, `"run":-1`, 1),
		"another period":    strings.Replace(last, `"period":20`, `"period":16`, 1),
		"a negative entry":  strings.Replace(last, `"entry":1`, `"entry":-1`, 1),
		"diverged later":    strings.Replace(last, `"digest"`, `"diverged":21,"digest"`, 1),
		"no number":         strings.Replace(last, `"digest":`, `"digest":"x"`, 1),
		"a very long line":  strings.TrimSuffix(last, "}\n") + strings.Repeat(" ", 2000) + "}",
		"something between": "\n" + last,
	} {
		if name != "twice" && bad == last {
			t.Fatalf("%s: nothing was changed in %s", name, last)
		}
		path := gzipped(t, func(w io.Writer) { _, _ = io.WriteString(w, good+bad+"\n") })
		if _, _, err := lab.ReadFile(path, toys.Known); !errors.Is(err, lab.ErrResults) ||
			!strings.Contains(err.Error(), "line") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The error about a file that is empty or cut off says what to do with it.
func TestFilesThatAreCutOff(t *testing.T) {
	good := toyPiece(t)
	zipped := must.M1(os.ReadFile(gzipped(t, func(w io.Writer) { _, _ = io.WriteString(w, good) })))
	for _, c := range []struct{ name, text, want string }{
		{"a.jsonl.gz", "", "the file is empty: copy it again"},
		{"a.jsonl.gz", string(zipped[:5]), "the file is cut off: copy it again"},
		{"a.jsonl.gz", string(zipped[:len(zipped)/2]), "the file is cut off: copy it again"},
		{"a.jsonl.gz", string(zipped[:len(zipped)-1]), "the file is cut off: copy it again"},
		{"a.jsonl", "", "the header line is missing or cut off: copy the file again"},
		{"a.jsonl", good[:50], "the header line is missing or cut off: copy the file again"},
		{lab.ResultsFile, "", "the header line is missing or cut off: remove the file, or choose another --out"},
	} {
		file := filepath.Join(t.TempDir(), c.name)
		must.M(os.WriteFile(file, []byte(c.text), 0o600))
		_, _, err := lab.ReadFile(file, toys.Known)
		if !errors.Is(err, lab.ErrResults) || !strings.HasPrefix(err.Error(), file) || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%d bytes of %s: %v, want %q", len(c.text), c.name, err, c.want)
		}
	}
	file := gzipped(t, func(w io.Writer) { _, _ = io.WriteString(w, good) })
	if _, _, err := lab.ReadResults(file, toys.Known); !errors.Is(err, lab.ErrResults) ||
		!strings.Contains(err.Error(), file+" is a file, perhaps a piece of a study; give the folder") {
		t.Errorf("a piece in place of a folder: %v", err)
	}
}

// FuzzReadFile reads arbitrary bytes as a piece of a study, gzipped and plain. The result is an error, or rows that
// the header's Spec can have.
func FuzzReadFile(f *testing.F) {
	good := toyPiece(f)
	header, _, _ := strings.Cut(good, "\n")
	f.Add([]byte(good))
	f.Add([]byte(good[:len(good)/2]))
	f.Add([]byte(header))
	f.Add([]byte(header + "\n{}\n"))
	f.Add([]byte(strings.Replace(good, `"runs":2`, `"runs":-2`, 1)))
	f.Add([]byte(strings.Replace(good, `"periods":20`, `"periods":9223372036854775807`, 1)))
	f.Add([]byte(strings.Replace(good, `"version":""`,
		`"version":"0.1.0","provenance":{"epoch":-1,"revision":"x"},"also":[{}]`, 1)))
	f.Add([]byte(good + `{"entry":1,"run":1,"seed":6,"period":20,"cumulative_regret":"NaN","digest":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		plain := filepath.Join(t.TempDir(), "piece.jsonl")
		must.M(os.WriteFile(plain, text, 0o600))
		raw := plain + ".gz" // not in gzip format
		must.M(os.WriteFile(raw, text, 0o600))
		zipped := gzipped(t, func(w io.Writer) { _, _ = w.Write(text) })
		for _, path := range []string{plain, zipped, raw} {
			h, rows, err := lab.ReadFile(path, toys.Known)
			if err != nil {
				if !errors.Is(err, lab.ErrResults) && !errors.Is(err, lab.ErrMixed) {
					t.Fatal(err)
				}
				continue
			}
			if len(rows) > h.Spec.Rows() {
				t.Errorf("%d rows of %d entries with %d runs of %d periods", len(rows), len(h.Spec.Entries),
					h.Spec.Runs, h.Spec.Periods)
			}
		}
	})
}
