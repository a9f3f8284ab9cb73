package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/sweep"
)

// Results of a file belong to its contents. If the contents change, every operation that reads, continues, joins or
// merges the results fails and names the file. Results from before files had digests can still be read.
func TestFileThatChanges(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "rows.csv"), t.TempDir()
	write := func(text string) { must.M(os.WriteFile(file, []byte(text), 0o644)) }
	const before, after = "x,kind\n1,a\n2,b\n3,a\n", "x,kind\n1,a\n2,b\n4,a\n"
	write(before)
	var known map[string]lab.Experiment // the world is in the catalogue
	x, ctx := must.M1(lab.Find(known, "table")), t.Context()
	size := lab.Size{Periods: 3, Runs: 2}
	spec := must.M1(x.Spec([]string{"egreedy"}, []string{"file=" + file, "hidden=none"}, size, 1))
	one, plan := filepath.Join(dir, "one"), filepath.Join(dir, "plan")
	o := lab.Options{Dir: one, Backend: backend.Go}
	must.M1(lab.Run(ctx, spec, known, o))
	p := must.M1(sweep.New(spec, sweep.Options{Backend: backend.Go, Shards: 1}))
	must.M(p.Create(plan, known))
	must.M(p.RunShard(ctx, plan, 0, known, lab.Options{}))

	uses := map[string]func() error{
		"read":   func() error { _, _, err := lab.ReadResults(one, known); return err },
		"resume": func() error { _, err := lab.Resume(ctx, known, o); return err },
		"run again": func() error {
			now := must.M1(x.Spec([]string{"egreedy"}, []string{"file=" + file, "hidden=none"}, size, 1))
			_, err := lab.Run(ctx, now, known, o)
			return err
		},
		"study": func() error { _, _, err := analysis.Read(known, one); return err },
		"worker": func() error {
			return lab.Worker(ctx, strings.NewReader(""), io.Discard, known, []string{one, "0/1", "1", "1s"})
		},
		"merge":   func() error { _, _, err := p.Rows(plan, known); return err },
		"a shard": func() error { _, err := sweep.Open(plan, known); return err },
	}
	check := func(when string, want ...string) {
		t.Helper()
		for use, do := range uses {
			err := do()
			if len(want) == 0 && err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%s, %s: %v", when, use, err)
			}
			for _, w := range want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("%s, %s: %v, want %q", when, use, err, w)
				}
			}
		}
	}
	check("as it was")
	write(after)
	check("changed", "file "+file+" has changed", "SHA-256")
	write(before)
	check("brought back")

	digest := regexp.MustCompile(`,\s*"file_sha256":\s*"[0-9a-f]{64}"`)
	results := []string{filepath.Join(one, lab.ResultsFile), filepath.Join(plan, sweep.PlanFile)}
	for _, path := range results {
		text := must.M1(os.ReadFile(path))
		old := digest.ReplaceAll(text, nil)
		if bytes.Equal(old, text) {
			t.Errorf("%s has no digest: %s", path, text)
		}
		must.M(os.WriteFile(path, old, 0o644))
	}
	delete(uses, "merge") // its shard has a checksum, and a digest
	check("of old")
}

// Results can be read and written without the file of the table, and have the same statistics. Runs need the file.
// Results of before the shape of a table was recorded cannot be read without the file.
func TestFileThatIsMissing(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "rows.csv"), t.TempDir()
	must.M(os.WriteFile(file, []byte("x,z,kind\n1,a,c\n2,b,d\n3,a,c\n"), 0o644))
	x, ctx := must.M1(lab.Find(nil, "table")), t.Context()
	spec := must.M1(x.Spec([]string{"egreedy"}, []string{"file=" + file, "hidden=none"}, lab.Size{Periods: 3, Runs: 2}, 1))
	o := lab.Options{Dir: dir, Backend: backend.Go}
	must.M1(lab.Run(ctx, spec, nil, o))
	summaries := func() ([]byte, []analysis.Summary) {
		h, rows := must.M2(analysis.Read(nil, dir))
		return must.M1(json.Marshal(h)), must.M1(analysis.Summarize(h, rows))
	}
	header, want := summaries()
	must.M(os.Rename(file, file+".old"))
	if h, got := summaries(); !bytes.Equal(h, header) || !reflect.DeepEqual(got, want) {
		t.Errorf("without the file: header %s and %+v, want %s and %+v", h, got, header, want)
	}
	advice := "run this in the folder with " + file + ", or put it back"
	if _, err := lab.Resume(ctx, nil, o); err == nil || !strings.Contains(err.Error(), advice) {
		t.Errorf("resumed without the file: error %v, want %q", err, advice)
	}
	path := filepath.Join(dir, lab.ResultsFile)
	text := must.M1(os.ReadFile(path))
	for shape, want := range map[string]string{"": "run this in the folder with the file, or put it back",
		`,"table":{"actions":2,"width":-1}`: "cannot have been a table of 2 actions and -1 columns"} {
		other := bytes.Replace(text, []byte(`,"table":{"actions":2,"width":3}`), []byte(shape), 1)
		must.M(os.WriteFile(path, other, 0o644))
		if _, _, err := lab.ReadResults(dir, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("with the shape %q: error %v, want %q", shape, err, want)
		}
	}
	must.M(os.WriteFile(path, text, 0o644))
	must.M(os.Rename(file+".old", file))
	must.M1(lab.Resume(ctx, nil, o))
}
