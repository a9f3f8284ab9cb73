package bandit_test

import (
	"fmt"
	"os"
	"path/filepath"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// A bandit with 20 arms: what a learner knows about it, and the least regret of any learner in 1,000 periods.
func ExampleNewGaussian() {
	w := bandit.NewGaussian()
	w.Arms = 20
	p := w.Problem()
	fmt.Println(w.Validate(), p.Actions, p.Features, p.PriorVariance, p.NoiseVariance)
	fmt.Printf("%.1f\n", w.LeastRegret(1000))
	// Output:
	// <nil> 20 0 2.25 1
	// 52.7
}

// Arms whose mean rewards change by a tenth of their variance in each period, and the numbers that may differ between
// the runs of a batch.
func ExampleNewDrifting() {
	w := bandit.NewDrifting()
	w.Drift = 0.1
	fmt.Println(w.Validate(), hyper.NumbersOf(w))
	w.Drift = 2
	fmt.Println(w.Validate())
	// Output:
	// <nil> map[Drift:0.1 NoiseVariance:1 PriorVariance:2.25]
	// drift must be from 0 to 1, got 2
}

// The bandit of section 4.2 with 1,000 actions, of 20 features each.
func ExampleNewNeural() {
	w := bandit.NewNeural()
	w.Actions = 1000
	p := w.Problem()
	fmt.Println(w.Validate(), p.Actions, p.Features, hyper.NumTheta(p.Truth.Base))
	// Output: <nil> 1000 20 79
}

// A neural bandit with rewards 0 and 1 and fewer actions: a learner knows only the number of features, and runs may
// differ in the temperature.
func ExampleNewNeuralLogistic() {
	w := bandit.NewNeuralLogistic()
	w.Actions = 200
	p := w.Problem()
	fmt.Println(w.Validate(), p.Actions, p.Features, p.Truth == nil, hyper.NumbersOf(w))
	// Output: <nil> 200 100 true map[Temperature:0.1]
}

// The bandit of section 5 with four components: each component alone, and the halves of the list.
func ExampleNewOneSparse() {
	w := bandit.NewOneSparse()
	w.Size = 4
	fmt.Println(w.Validate(), w.Problem().Actions)
	for _, x := range w.Actions() {
		fmt.Println(x)
	}
	// Output:
	// <nil> 6
	// [1 0 0 0]
	// [0 1 0 0]
	// [0 0 1 0]
	// [0 0 0 1]
	// [0.5 0.5 0 0]
	// [0 0 0.5 0.5]
}

// The linear bandit with 10,000 actions of 50 features.
func ExampleNewLinear() {
	w := bandit.NewLinear()
	w.Actions, w.Features = 10_000, 50
	p := w.Problem()
	fmt.Println(w.Validate(), p.Actions, p.Features, p.PriorVariance, w.ActionSet)
	// Output: <nil> 10000 50 10 box
}

// One unknown action among 1,023 known ones.
func ExampleNewUnknownAction() {
	w := bandit.NewUnknownAction()
	w.Actions = 1024
	fmt.Println(w.Validate(), w.Problem().Actions, w.Problem().Features)
	// Output: <nil> 1024 0
}

// A file of flowers. The guess for each flower has the context of the flower in a block of its own: two numbers, and a
// 0 or 1 for each of three colours.
func ExampleTable() {
	dir, err := os.MkdirTemp("", "table")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "flowers.csv")
	text := "length,width,color,kind\n5.1,1.4,blue,iris\n3.2,0.9,red,poppy\n4.8,1.1,red,iris\n2.9,0.7,white,daisy\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	w := &bandit.Table{File: file, Target: "kind"}
	fmt.Println(w.Validate(), w.Problem().Actions, w.Problem().Features)
	// Output: <nil> 3 15
}

// Handwritten digits, each once and in a different order for each run, as in a service: 61 pixels and an intercept in
// the block of each of 10 digits. Over 1,797 periods the regret is the number of wrong guesses.
func ExampleNewTable() {
	w := bandit.NewTable()
	w.Data, w.Order, w.Standardize, w.Intercept = "digits", bandit.Shuffled, bandit.Online, true
	fmt.Println(w.Validate(), w.Problem().Actions, w.Problem().Features)
	// Output: <nil> 10 620
}

// Rewards that arrive two periods after the action: the arrivals in each of four periods.
func ExampleDelayed() {
	w := &bandit.Delayed{World: bandit.NewGaussian(), Periods: 2}
	fmt.Println(w.Validate(), w.Problem().Delays)
	b, err := backend.Open(backend.Go)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := CallOnceN(b, func(in []*Node) []*Node {
		s := rng.New(in[0])
		state := w.Init(s.Named("init"), nil)
		var arrivals []*Node
		for period := range 4 {
			now := Const(in[0].Graph(), int32(period))
			_, state = w.Offer(state, nil, s.At(now), now)
			action := BroadcastToDims(AddScalar(now, 5), 1) // 5, 6, 7, 8
			var o bandit.Outcome
			o, state = w.Step(state, nil, s.At(now), now, action)
			arrivals = append(arrivals, o.Late.Arrived, o.Late.Action)
		}
		return arrivals
	}, []uint64{1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := 0; i < len(out); i += 2 {
		fmt.Println(out[i].Value(), out[i+1].Value())
	}
	// Output:
	// <nil> true
	// false [0]
	// false [0]
	// true [5]
	// true [6]
}

// Ensemble++'s quadratic bandit, with 10 of 200 actions in each period.
func ExampleNewQuadratic() {
	w := bandit.NewQuadratic()
	w.Actions, w.Offered = 200, 10
	fmt.Println(w.Validate(), w.Problem().Actions, w.Problem().Features, w.Problem().Moves)
	// Output: <nil> 10 100 true
}
