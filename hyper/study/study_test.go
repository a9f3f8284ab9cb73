package study_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
)

const results = "../../notebooks/results"

// archive returns the committed results. It reads each study once for all tests.
var archive = sync.OnceValue(func() *study.Archive { return study.NewArchive(results, paper.Known) })

// sentence makes a sentence whose comparisons have these p-values, for it and against it.
func sentence(number int, pValues ...[2]float64) study.Sentence {
	return study.Sentence{Number: number, Compare: func(*study.Archive) (all []study.Comparison, err error) {
		for _, p := range pValues {
			all = append(all, study.Comparison{Inside: p[0], Outside: p[1], Runs: 100, Claimed: study.Below(1)})
		}
		return all, nil
	}}
}

// A sentence holds if all its comparisons hold, does not hold if one comparison does not, and is open otherwise.
// P-values are two-sided, account for the number of comparisons, and are corrected for the sentences that are read
// together.
func TestAnswer(t *testing.T) {
	all := must.M1(study.Answers(archive(), []study.Sentence{
		sentence(1, [2]float64{0.001, 1}, [2]float64{0.004, 1}),
		sentence(2, [2]float64{0.001, 1}, [2]float64{1, 0.002}),
		sentence(3, [2]float64{0.001, 1}, [2]float64{0.02, 0.9}),
		sentence(4, [2]float64{1, 1}),
	}))
	for i, want := range []struct {
		verdict      study.Verdict
		p, corrected float64
	}{
		{study.Holds, 0.008, 0.032},       // 2 x 0.004, 4 sentences; this one and the next have the smallest
		{study.DoesNotHold, 0.008, 0.032}, // 2 comparisons x 2 x 0.002
		{study.Open, 0.04, 0.08},          // alone it would hold
		{study.Open, 1, 1},                // nothing is known
	} {
		got := all[i]
		if got.Verdict != want.verdict || math.Abs(got.P-want.p) > 1e-12 || math.Abs(got.Corrected-want.corrected) > 1e-12 {
			t.Errorf("sentence %d: %s, p = %v, corrected %v, want %+v", i+1, got.Verdict, got.P, got.Corrected, want)
		}
	}
	if shown := all[1].Deciding; shown.Outside != 0.002 {
		t.Errorf("sentence 2: got %+v, want the comparison that refutes it", shown)
	}
	// 100 runs give p = 0.02, z = 2.054. Two sentences remain for the correction: 0.0125, z = 2.241.
	if needs := all[2].Needs; needs != "about 120 runs in all would decide: it would hold" {
		t.Errorf("sentence 3 needs %s, want about 120 runs, and that it would hold", needs)
	}
	if needs := all[3].Needs; needs != "these runs do not say how many would decide" {
		t.Errorf("sentence 4 needs %s, want these runs do not say how many", needs)
	}
}

// The archive reads the runs that a source identifies, and says what is missing or unclear.
func TestRuns(t *testing.T) {
	a := archive()
	ids := study.Source{Folder: "ids/study8", Side: study.NewSide("ids", "noise-factor=100", "noise-variance=0.01"),
		Periods: 400, Runs: 500}
	regret, diverged, err := a.Runs(ids)
	if err != nil || len(regret) != 500 || diverged != 0 {
		t.Fatalf("got %d runs, error %v, want 500", len(regret), err)
	}
	few := ids
	few.Runs = 3
	if regret, _, err = a.Runs(few); err != nil || len(regret) != 3 {
		t.Errorf("lowest 3 seeds: got %d runs, error %v", len(regret), err)
	}
	for seed := range regret {
		if seed < 1_100_000 || seed > 1_100_002 {
			t.Errorf("seed %d is not among the lowest three", seed)
		}
	}
	for want, s := range map[string]study.Source{
		"500 of 501 runs":            {Folder: ids.Folder, Side: ids.Side, Periods: 400, Runs: 501},
		"0 of 5 runs":                {Folder: "ids/none", Side: study.NewSide("ids"), Periods: 400, Runs: 5},
		"0 of 7 runs":                {Folder: ids.Folder, Side: study.NewSide("linear"), Periods: 400, Runs: 7},
		"add settings that identify": {Folder: ids.Folder, Side: study.NewSide("ids"), Periods: 400, Runs: 500},
		"0 of 500 runs of":           {Folder: ids.Folder, Side: ids.Side, Periods: 399, Runs: 500},
	} {
		if _, _, err := a.Runs(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", s, err, want)
		}
	}
}

// A comparison has the interval of package lab and the p-values of package stats, for both sides of its range.
func TestRatioAndGap(t *testing.T) {
	a := archive()
	of := func(agent string) study.Source {
		return study.Source{Folder: "ids/study8", Side: study.NewSide(agent, "noise-factor=100", "noise-variance=0.01"),
			Periods: 400, Runs: 500}
	}
	below := must.M1(a.Ratio("", study.Below(1), of("ids"), of("thompson")))
	if below.Inside > 0.001 || below.Outside < 0.5 || below.Runs != 500 || !(below.Estimate.Lower < below.Estimate.Value && below.Estimate.Value < 1) {
		t.Errorf("comparison below 1: got %+v", below)
	}
	alike := must.M1(a.Ratio("", study.Within(1.25), of("ids"), of("thompson")))
	if alike.Inside < below.Inside || alike.Outside < 0.5 {
		t.Errorf("comparison within a quarter: got %+v", alike)
	}
	gap := must.M1(a.Gap("", study.Above(0), of("thompson"), of("ids"), of("exact-thompson"), of("exact-ids")))
	if gap.Runs != 500 || gap.Inside+gap.Outside < 0.5 {
		t.Errorf("comparison of gaps: got %+v", gap)
	}
	lost := must.M1(a.Ratio("", study.Below(1), of("ids"), study.Source{Folder: "ids/none", Side: study.NewSide("x"), Runs: 2}))
	if lost.Missing != "0 of 2 runs of agent x are in ids/none" || lost.Inside != 1 || lost.Outside != 1 ||
		!math.IsNaN(float64(lost.Estimate.Value)) {
		t.Errorf("without runs of one agent: got %+v, want them named as missing", lost)
	}
	linear := func(folder string) study.Source {
		return study.Source{Folder: folder, Side: study.NewSide("linear", "clip=0"), Periods: 100_000, Runs: 32}
	}
	apart := must.M1(a.Ratio("", study.Below(1), linear("neural/like-for-like-200"), linear("neural/similar-200")))
	if apart.Missing != "the agents have 0 of 32 seeds in common" || apart.Inside != 1 {
		t.Errorf("runs with other seeds: got %+v, want them named as missing", apart)
	}
}

// Damaged results are an error, not a missing run.
func TestDamagedResults(t *testing.T) {
	dir := t.TempDir()
	must.M(os.MkdirAll(filepath.Join(dir, "x"), 0o755))
	must.M(os.WriteFile(filepath.Join(dir, "x", "a.jsonl.gz"), []byte("no gzip"), 0o644))
	if _, _, err := study.NewArchive(dir, paper.Known).Runs(study.Source{Folder: "x", Side: study.NewSide("linear")}); err == nil {
		t.Error("damaged piece: got no error")
	}
}

func TestRangeAsText(t *testing.T) {
	for want, r := range map[string]study.Range{
		"below 1.35": study.Below(1.35), "above 0": study.Above(0), "between 0.8 and 1.25": study.Within(1.25),
	} {
		if r.String() != want {
			t.Errorf("%s, want %s", r, want)
		}
	}
}

func TestTables(t *testing.T) {
	s := study.Answer{Sentence: study.Sentence{Number: 3, Text: "It is so", Section: "section 9"}, Verdict: study.Open,
		Needs: "about 300 runs in all would decide: it would hold", Deciding: study.Comparison{Text: "a over b",
			Estimate: stats.Estimate{Value: 1.234, Lower: 0.9, Upper: 1200},
			Claimed:  study.Below(1), Runs: 12, Periods: 100_000, Diverged: [2]int{1, 0}}}
	s.Comparisons = []study.Comparison{s.Deciding, {Text: "c over d", Missing: "5 of 7 runs", Claimed: study.Above(stats.Level)}}
	want := "| 3 | It is so (section 9) | **open** | a over b: 1.23 [0.9, 1200], claimed below 1 | " +
		"about 300 runs in all: it would hold |\n"
	if got := study.AnswersTable([]study.Answer{s}); !strings.HasSuffix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	table := s.ComparisonsTable()
	for _, want := range []string{"| a over b | 1.23 [0.9, 1200] | below 1 | 12 x 100,000 | 1 and 0 |\n",
		"| c over d | 5 of 7 runs | above 0.95 | | |\n"} {
		if !strings.Contains(table, want) {
			t.Errorf("got %s, want the line %s", table, want)
		}
	}
}

// A number for which the claim is true is below 1: relative to a bound, between two bounds, and, for a difference, as a
// share of the first regret.
func TestRelative(t *testing.T) {
	for name, c := range map[string]struct {
		c    study.Comparison
		want [3]float64
	}{
		"below":       {study.Comparison{Claimed: study.Below(2), Estimate: stats.Estimate{Value: 1, Lower: 0.5, Upper: 4}}, [3]float64{0.5, 0.25, 2}},
		"within":      {study.Comparison{Claimed: study.Within(1.25), Estimate: stats.Estimate{Value: 1, Lower: 0.8, Upper: 2}}, [3]float64{0.8, 0.8, 1.6}},
		"within, low": {study.Comparison{Claimed: study.Within(2), Estimate: stats.Estimate{Value: 0.25, Lower: 0.125, Upper: 0.5}}, [3]float64{2, 1, 4}},
		"difference": {study.Comparison{Claimed: study.Above(0), Scale: 100, Estimate: stats.Estimate{Value: 0, Lower: -100, Upper: 100}},
			[3]float64{1, math.Exp(-1), math.E}},
	} {
		value, lower, upper := c.c.Relative()
		for i, got := range []float64{value, lower, upper} {
			if math.Abs(got-c.want[i]) > 1e-12 {
				t.Errorf("%s: %v, %v, %v, want %v", name, value, lower, upper, c.want)
			}
		}
	}
}
