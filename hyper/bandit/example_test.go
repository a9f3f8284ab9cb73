package bandit_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/bandit"
)

// What a learner may know of the bandit of section 4.1: its arms, and the variances of the loss.
func ExampleNewGaussian() {
	p := bandit.NewGaussian().Problem()
	fmt.Println(p.Actions, p.Features, p.PriorVariance, p.NoiseVariance)
	// Output: 10 0 2.25 1
}

// Of the bandit of section 4.2 it knows the actions' length, and the distribution of the network that makes the rewards.
func ExampleNewNeural() {
	p := bandit.NewNeural().Problem()
	fmt.Println(p.Actions, p.Features, p.Truth.Base)
	// Output: 200 20 {[20 3 3 1] }
}

// A bandit of which a thousandth of the variance of mean rewards is new in each period.
func ExampleNewDrifting() {
	w := bandit.NewDrifting()
	w.Drift = 0.001
	fmt.Println(w.Validate(), w.Problem().Actions)
	// Output: <nil> 10
}

// Rewards of the bandit of section 4.1 that come 30 periods after the actions.
func ExampleDelayed() {
	w := &bandit.Delayed{World: bandit.NewGaussian(), Periods: 30}
	fmt.Println(w.Validate(), w.Problem().Delays)
	// Output: <nil> true
}

// The rows of a file as a world: which kind is it, by size and color?
func ExampleTable() {
	dir := must.M1(os.MkdirTemp("", "rows"))
	defer func() { must.M(os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "rows.csv")
	must.M(os.WriteFile(path, []byte("size,color,kind\n1,red,ant\n2,black,bee\n3,red,bee\n"), 0o644))
	w := &bandit.Table{File: path}
	fmt.Println(w.Validate(), w.Problem().Actions, w.Problem().Features)
	// Output: <nil> 2 6
}
