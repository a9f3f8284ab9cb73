package analysis

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/internal/toys"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Pieces with other seeds and other settings are read as one study. A piece is small, and agrees with the results.
func TestStudyJoinsPieces(t *testing.T) {
	dirs := []string{
		toys.Write(t, []int{2, 3}, 3, 1000, 10, toys.Linear),
		toys.Write(t, []int{3}, 2, 1000, 13, toys.Linear),    // more runs of one entry
		toys.Write(t, []int{5, 2}, 3, 1000, 10, toys.Linear), // one more entry, and runs that exist already
	}
	var files []string
	for i, dir := range dirs {
		file := filepath.Join(t.TempDir(), "piece-"+string(rune('a'+i))+".jsonl.gz")
		must.M(exportTo(dir, file))
		files = append(files, file)
	}
	for name, paths := range map[string][]string{"files": files, "folders": dirs,
		"both": {files[0], dirs[1], files[2]}} {
		h, rows, err := Read(toys.Known, paths...)
		if err != nil {
			t.Fatal(name, err)
		}
		if len(h.Spec.Entries) != 3 || h.Spec.Runs != 5 || h.Spec.Periods != 1000 || h.Spec.Seed != 10 {
			t.Errorf("%s: %d entries of at most %d runs, %d periods, seed %d", name, len(h.Spec.Entries), h.Spec.Runs,
				h.Spec.Periods, h.Spec.Seed)
		}
		all, err := Compare(h, rows, 4)
		if err != nil {
			t.Fatal(name, err)
		}
		// Means of seeds 10..12, 10..14 and 10..12, in hundredths, plus the arms. A run failed if it has more than 4
		// per period.
		for i, want := range []struct {
			runs         int
			mean, failed float64
			difference   float64
		}{{3, 2110, 0, 0}, {5, 3120, 0, 1000}, {3, 5110, 1, 3000}} {
			s := all[i]
			if s.Runs != want.runs || s.Period != 1000 {
				t.Errorf("%s: entry %d has %d runs at period %d", name, i, s.Runs, s.Period)
			}
			toys.Near(t, name+": mean", float64(s.Mean.Value), want.mean)
			toys.Near(t, name+": failed", float64(s.Failed.Value), want.failed)
			toys.Near(t, name+": difference", float64(s.Difference.Value), want.difference)
			if !(s.Mean.Lower <= s.Mean.Value && s.Mean.Value <= s.Mean.Upper) {
				t.Errorf("%s: mean %v outside its interval", name, s.Mean)
			}
		}
		find := Lookup(toys.Experiment, h, rows)
		_, found, err := find([]string{"toy"}, []string{"arms=5"}, lab.Size{Periods: 1000, Runs: 3})
		if err != nil || len(found) == 0 ||
			slices.ContainsFunc(found,
				func(r lab.Row) bool { return r.Entry != 0 || float64(r.Regret) < 5*float64(r.Period) }) {
			t.Errorf("%s: the study's entry with 5 arms: %v, %d rows", name, err, len(found))
		}
		if _, _, err := find([]string{"toy"}, []string{"arms=4"}, lab.Size{Periods: 1000, Runs: 1}); !errors.Is(err,
			ErrMissing) {
			t.Errorf("%s: found an entry that is not there", name)
		}
	}
	whole, _ := os.Stat(filepath.Join(dirs[0], lab.ResultsFile))
	piece, _ := os.Stat(files[0])
	if piece.Size() > whole.Size()/5 {
		t.Errorf("a piece has %d bytes of %d", piece.Size(), whole.Size())
	}
}

// Pieces that contradict each other, belong to two experiments, are damaged or are unfinished are refused.
func TestStudyRefusals(t *testing.T) {
	a := toys.Write(t, []int{2}, 2, 100, 1, toys.Linear)
	b := toys.Write(t, []int{2}, 2, 100, 1, func(n int, s uint64) float64 { return 1 + toys.Linear(n, s) })
	if _, _, err := Read(toys.Known, a, b); err == nil || !strings.Contains(err.Error(), "in an earlier piece") {
		t.Errorf("contradiction: %v", err)
	}
	if _, _, err := Read(toys.Known, a, "toysWorld"); !errors.Is(err, lab.ErrResults) {
		t.Errorf("no file: %v", err)
	}
	broken := filepath.Join(t.TempDir(), "broken.jsonl.gz")
	must.M(os.WriteFile(broken, []byte("not gzip"), 0o644))
	if _, _, err := Read(toys.Known, broken); !errors.Is(err, lab.ErrResults) {
		t.Errorf("no gzip: %v", err)
	}
	path := filepath.Join(a, lab.ResultsFile)
	text, _ := os.ReadFile(path)
	lines := strings.SplitAfter(string(text), "\n")
	must.M(os.WriteFile(path, []byte(strings.Join(lines[:len(lines)-2], "")), 0o644))
	if err := exportTo(a, broken); !errors.Is(err, lab.ErrResults) || !strings.Contains(err.Error(), "resume") {
		t.Errorf("an unfinished run was exported: %v", err)
	}
	if text, _ := os.ReadFile(broken); string(text) != "not gzip" {
		t.Error("a refused export changed the file")
	}
}

// Two backends round in their own ways: the same run of both is refused, even if all rows are equal. Other runs are
// joined.
func TestRunsOfTwoBackends(t *testing.T) {
	a, b := toys.Write(t, []int{2}, 2, 100, 1, toys.Linear), toys.Write(t, []int{2, 3}, 2, 100, 2, toys.Linear)
	other := toys.Write(t, []int{3}, 2, 100, 1, toys.Linear)
	path := filepath.Join(b, lab.ResultsFile)
	text := string(must.M1(os.ReadFile(path)))
	must.M(os.WriteFile(path, []byte(strings.Replace(text, `"backend":"go"`, `"backend":"xla:cpu"`, 1)), 0o644))
	want := a + " is of backend go, " + b + " of xla:cpu, and both have the run of toy with seed 2"
	if _, _, err := Read(toys.Known, a, b); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the same run: got error %v, want %s", err, want)
	}
	far := toys.Write(t, []int{2, 3}, 2, 100, 10, toys.Linear)
	for _, paths := range [][]string{{b, far}, {a, other}} {
		if _, _, err := Read(toys.Known, paths...); err != nil {
			t.Errorf("other runs: got error %v, want none", err)
		}
	}
}

// The contrast of four entries is the mean over seeds of (A - B) - (C - D), with Student's interval: by hand for two
// seeds.
func TestPairedContrast(t *testing.T) {
	rows := slices.Concat(
		toys.Rows(0, []float64{0, 10}, []float64{0, 12}), toys.Rows(1, []float64{0, 20}, []float64{0, 23}),
		toys.Rows(2, []float64{0, 5}, []float64{0, 6}), toys.Rows(3, []float64{0, 6}, []float64{0, 6}),
	)
	d := must.M1(PairedContrast(rows, 0, 1, 2, 3))
	// The differences are -10 + 1 = -9 and -11 - 0 = -11. The standard error is 1, widened by 1 + 1/sqrt(2), and
	// 12.7062 is Student's 97.5% point with one degree of freedom.
	toys.Near(t, "mean", float64(d.Mean.Value), -10)
	toys.Near(t, "lower", float64(d.Mean.Lower), -10-(1+1/math.Sqrt2)*12.7062)
	if d.Pairs != 2 || d.Period != 100 {
		t.Errorf("%d pairs at period %d", d.Pairs, d.Period)
	}
	rows[len(rows)-1].Diverged = 7
	if again, err := PairedContrast(rows, 0, 1, 2, 3); err != nil || again.Diverged != [2]int{0, 1} || again.Mean != d.Mean {
		t.Errorf("with a diverged run of the fourth: %v diverged, mean %v, %v", again.Diverged, again.Mean, err)
	}
}
