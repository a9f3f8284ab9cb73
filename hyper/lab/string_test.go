package lab_test

import (
	"fmt"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// A Spec, the header of results and a curve print as one line.
func ExampleHeader_String() {
	size := lab.Size{Periods: 2, Runs: 2}
	spec := must.M1(paper.Gaussian.Spec([]string{"exact", "linear"}, []string{"arms=3,5"}, size, 7))
	h := lab.Header{Spec: spec, Version: "0.2.0", Backend: "go"}
	fmt.Println(h)
	rows := []lab.Row{{Seed: 7, Period: 1, Regret: 1}, {Seed: 7, Period: 2, Regret: 2},
		{Run: 1, Seed: 8, Period: 1, Regret: 1}, {Run: 1, Seed: 8, Period: 2, Regret: 2}}
	for _, c := range lab.Curves(h, rows)[:2] {
		fmt.Println(c)
	}
	// Output:
	// gaussian: exact, linear in 4 settings, 2 runs of 2 periods, first seed 7; hypermodels 0.2.0, backend go
	// exact: regret 2 [2, 2] after 2 periods, 2 runs
	// exact: no periods
}
