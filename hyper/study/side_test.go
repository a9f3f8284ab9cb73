package study_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
)

func ExampleNewSide() {
	fmt.Println(study.NewSide("linear", "arms=20", "index-dim=10"))
	fmt.Println(study.NewSide("exact"))
	// Output:
	// linear [arms=20 index-dim=10]
	// exact
}

// Test pairs the runs of two sides by seed: a loses a tenth of b's regret in total, and twice as much in the late
// half.
func TestRegretRatio(t *testing.T) {
	simulate := func(agents, sets []string, _ lab.Size) (h lab.Header, rows []lab.Row, err error) {
		h.Spec.Entries = []lab.Entry{{Agent: agents[0]}}
		early, late := 10., 10.
		if agents[0] == "a" {
			early, late = -18, 20
		}
		for run := range 20 {
			scale := 1 + float64(run%5)/10
			for period, regret := range map[int]float64{1: scale * early, 2: scale * (early + late)} {
				rows = append(rows, lab.Row{Run: run, Seed: uint64(run), Period: period, Regret: stats.Float(regret)})
			}
		}
		return h, rows, nil
	}
	a, b := study.NewSide("a"), study.NewSide("b")
	for name, of := range map[string]struct {
		study.RegretRatio
		estimate float64
		want     study.Verdict
	}{
		"below":     {study.RegretRatio{A: a, B: b, Claimed: study.Below(0.2)}, 0.1, study.Reproduced},
		"not below": {study.RegretRatio{A: b, B: a, Claimed: study.Below(9)}, 10, study.Refuted},
		"within":    {study.RegretRatio{A: a, B: b, Claimed: study.Range{Above: 0.05, Below: 0.2}}, 0.1, study.Reproduced},
		"outside":   {study.RegretRatio{A: a, B: b, Claimed: study.Range{Above: 0.5, Below: 1}}, 0.1, study.Refuted},
		"late":      {study.RegretRatio{A: a, B: b, Claimed: study.Below(1), Late: true}, 2, study.Refuted},
	} {
		f := must.M1(of.Test(simulate, lab.Size{Periods: 2, Runs: 20}))
		if math.Abs(float64(f.Estimate.Value)-of.estimate) > 1e-9 || f.Verdict != of.want {
			t.Errorf("%s: %.3f, %s; want %.3f, %s", name, f.Estimate.Value, f.Verdict, of.estimate, of.want)
		}
	}
	if _, err := (study.RegretRatio{A: a, B: b, Claimed: study.Below(1)}).Test(simulate, lab.Size{Periods: 2, Runs: 21}); err == nil {
		t.Error("20 runs are enough for a size of 21")
	}
}

// Two sides may each have enough runs, but share too few seeds.
func TestEnoughRuns(t *testing.T) {
	size := lab.Size{Periods: 10, Runs: 5}
	if err := study.EnoughRuns(size, 5); err != nil {
		t.Error(err)
	}
	if err := study.EnoughRuns(size, 4); !errors.Is(err, analysis.ErrMissing) || !strings.Contains(err.Error(), "comparison needs 5 runs") {
		t.Errorf("got %v", err)
	}
}
