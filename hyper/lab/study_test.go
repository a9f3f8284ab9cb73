package lab

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/bandit"
)

// toys is the experiment of the toy setting.
var toys = Experiment{
	Name:   "toys",
	World:  func() bandit.World { return new(nowhere) },
	Agents: map[string]func() Learner{"toy": func() Learner { return &toy{Arms: 2} }},
	Order:  []string{"toy"},
}

var knownToys = map[string]Experiment{"toys": toys}

// writeToys writes results of toys with the given arms in the form of a run, with one row for each run and period of
// the schedule. The regret of a run is regret(arms, seed) times the period.
func writeToys(t testing.TB, arms []int, runs, periods int, seed uint64,
	regret func(arms int, seed uint64) float64) string {
	t.Helper()
	h := Header{Format: Format, Backend: "go", Spec: Spec{Experiment: "toys", Periods: periods, Runs: runs, Seed: seed}}
	dir := t.TempDir()
	var lines []string
	add := func(v any) {
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	for _, n := range arms {
		h.Spec.Entries = append(h.Spec.Entries, Entry{Agent: "toy", Setting: toySetting(n)})
	}
	add(h)
	for i, n := range arms {
		for _, period := range Schedule(periods) {
			for run := range runs {
				s := seed + uint64(run)
				add(Row{Entry: i, Run: run, Seed: s, Period: period, Regret: Float(regret(n, s) * float64(period))})
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ResultsFile), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// linearToys returns the regret per period: the number of arms, plus a hundredth of the seed.
func linearToys(arms int, seed uint64) float64 { return float64(arms) + float64(seed)/100 }

// Pieces with other seeds and other settings are read as one study. A piece is small, and agrees with the results.
func TestStudyJoinsPieces(t *testing.T) {
	dirs := []string{
		writeToys(t, []int{2, 3}, 3, 1000, 10, linearToys),
		writeToys(t, []int{3}, 2, 1000, 13, linearToys),    // more runs of one entry
		writeToys(t, []int{5, 2}, 3, 1000, 10, linearToys), // one more entry, and runs that exist already
	}
	var files []string
	for i, dir := range dirs {
		file := filepath.Join(t.TempDir(), "piece-"+string(rune('a'+i))+".jsonl.gz")
		if err := Export(dir, file, knownToys); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	for name, paths := range map[string][]string{"files": files, "folders": dirs,
		"both": {files[0], dirs[1], files[2]}} {
		h, rows, err := ReadStudy(knownToys, paths...)
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
			near(t, name+": mean", float64(s.Mean.Value), want.mean)
			near(t, name+": failed", float64(s.Failed.Value), want.failed)
			near(t, name+": difference", float64(s.Difference.Value), want.difference)
			if !(s.Mean.Lower <= s.Mean.Value && s.Mean.Value <= s.Mean.Upper) {
				t.Errorf("%s: mean %v outside its interval", name, s.Mean)
			}
		}
		find := FromStudy(toys, h, rows)
		_, found, err := find([]string{"toy"}, []string{"arms=5"}, Size{Periods: 1000, Runs: 3})
		if err != nil || len(found) == 0 ||
			slices.ContainsFunc(found,
				func(r Row) bool { return r.Entry != 0 || float64(r.Regret) < 5*float64(r.Period) }) {
			t.Errorf("%s: the study's entry with 5 arms: %v, %d rows", name, err, len(found))
		}
		if _, _, err := find([]string{"toy"}, []string{"arms=4"}, Size{Periods: 1000, Runs: 1}); !errors.Is(err,
			ErrNotInStudy) {
			t.Errorf("%s: found an entry that is not there", name)
		}
	}
	whole, _ := os.Stat(filepath.Join(dirs[0], ResultsFile))
	piece, _ := os.Stat(files[0])
	if piece.Size() > whole.Size()/5 {
		t.Errorf("a piece has %d bytes of %d", piece.Size(), whole.Size())
	}
}

// Pieces that contradict each other, belong to two experiments, are damaged or are unfinished are refused.
func TestStudyRefusals(t *testing.T) {
	a := writeToys(t, []int{2}, 2, 100, 1, linearToys)
	b := writeToys(t, []int{2}, 2, 100, 1, func(n int, s uint64) float64 { return 1 + linearToys(n, s) })
	if _, _, err := ReadStudy(knownToys, a, b); err == nil || !strings.Contains(err.Error(), "in an earlier piece") {
		t.Errorf("contradiction: %v", err)
	}
	if _, _, err := ReadStudy(knownToys, a, "nowhere"); !errors.Is(err, ErrResults) {
		t.Errorf("no file: %v", err)
	}
	broken := filepath.Join(t.TempDir(), "broken.jsonl.gz")
	if err := os.WriteFile(broken, []byte("not gzip"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadStudy(knownToys, broken); !errors.Is(err, ErrResults) {
		t.Errorf("no gzip: %v", err)
	}
	path := filepath.Join(a, ResultsFile)
	text, _ := os.ReadFile(path)
	lines := strings.SplitAfter(string(text), "\n")
	if err := os.WriteFile(path, []byte(strings.Join(lines[:len(lines)-2], "")), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Export(a, broken, knownToys); !errors.Is(err, ErrResults) || !strings.Contains(err.Error(), "resume") {
		t.Errorf("an unfinished run was exported: %v", err)
	}
	if text, _ := os.ReadFile(broken); string(text) != "not gzip" {
		t.Error("a refused export changed the file")
	}
}

// The contrast of four entries is the mean over seeds of (A - B) - (C - D), with Student's interval: by hand for two
// seeds.
func TestPairedContrast(t *testing.T) {
	rows := slices.Concat(
		rowsOf(0, []float64{0, 10}, []float64{0, 12}), rowsOf(1, []float64{0, 20}, []float64{0, 23}),
		rowsOf(2, []float64{0, 5}, []float64{0, 6}), rowsOf(3, []float64{0, 6}, []float64{0, 6}),
	)
	d, err := PairedContrast(rows, 0, 1, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	// The differences are -10 + 1 = -9 and -11 - 0 = -11. The standard error is 1, widened by 1 + 1/sqrt(2), and
	// 12.7062 is Student's 97.5% point with one degree of freedom.
	near(t, "mean", float64(d.Mean.Value), -10)
	near(t, "lower", float64(d.Mean.Lower), -10-(1+1/math.Sqrt2)*12.7062)
	if d.Pairs != 2 || d.Period != 100 {
		t.Errorf("%d pairs at period %d", d.Pairs, d.Period)
	}
	rows[len(rows)-1].Diverged = 7
	if again, err := PairedContrast(rows, 0, 1, 2, 3); err != nil || again.Diverged != 1 || again.Mean != d.Mean {
		t.Errorf("with a diverged run of the fourth: %d diverged, mean %v, %v", again.Diverged, again.Mean, err)
	}
}
