package analysis_test

import (
	"fmt"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// A curve prints as one line.
func ExampleCurves() {
	size := lab.Size{Periods: 2, Runs: 2}
	h := lab.Header{Spec: must.M1(paper.Gaussian.Spec([]string{"exact", "linear"}, []string{"arms=3"}, size, 7))}
	rows := []lab.Row{{Seed: 7, Period: 1, Regret: 1}, {Seed: 7, Period: 2, Regret: 2},
		{Run: 1, Seed: 8, Period: 1, Regret: 1}, {Run: 1, Seed: 8, Period: 2, Regret: 2}}
	for _, c := range analysis.Curves(h, rows) {
		fmt.Println(c)
	}
	// Output:
	// exact: regret 2 [2, 2] after 2 periods, 2 runs
	// linear: no periods
}

func ExamplePairedDifference() {
	rows := []lab.Row{{Entry: 0, Seed: 7, Period: 2, Regret: 4}, {Entry: 0, Seed: 8, Period: 2, Regret: 6},
		{Entry: 1, Seed: 7, Period: 2, Regret: 8}, {Entry: 1, Seed: 8, Period: 2, Regret: 12}}
	d := must.M1(analysis.PairedDifference(rows, 0, 1))
	fmt.Println(d.Ratio, "by", d.Pairs, "pairs")
	// Output: 0.5 [0.5, 0.5] by 2 pairs
}
