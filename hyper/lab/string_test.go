package lab_test

import (
	"fmt"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// The header of results prints as one line.
func ExampleHeader_String() {
	size := lab.Size{Periods: 2, Runs: 2}
	spec := must.M1(paper.Gaussian.Spec([]string{"exact", "linear"}, []string{"arms=3,5"}, size, 7))
	h := lab.Header{Spec: spec, Version: "0.2.0", Backend: "go"}
	fmt.Println(h)
	// Output:
	// gaussian: exact, linear in 4 settings, 2 runs of 2 periods, first seed 7; hypermodels 0.2.0, backend go
}
