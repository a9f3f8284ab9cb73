package agent

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/janpfeifer/must"
)

func ExampleAgent_Explain() {
	a := must.M1(Contextual(2, 3))
	for i := range 200 { // arm 1 is good where the first number is large
		x := float32(i%10) - 4.5
		d := must.M1(a.Decide(context.Background(), Menu{Context: []float32{x, float32(i % 3), float32(i % 7)}}))
		must.M(a.Observe(context.Background(), Feedback{ID: d.ID, Reward: x * (2*float32(d.Action) - 1)}))
	}
	of := must.M1(a.Explain(context.Background(), Menu{Context: []float32{4, 1, 3}}, 256))
	for arm, e := range of {
		largest := e.Context[0]
		for _, other := range e.Context {
			if math.Abs(other.Mean) > math.Abs(largest.Mean) {
				largest = other
			}
		}
		fmt.Printf("arm %d: by number %d, for the better: %t\n", arm, largest.Number, largest.Mean > 0)
	}
	// Output:
	// arm 0: by number 0, for the better: false
	// arm 1: by number 0, for the better: true
}

// If rewards are a linear function, the effects are its terms; each differs by at most a few of its own standard
// deviations. This holds for standardised contexts, for more numbers than one sample draws together, and for the
// numbers of actions. Numbers at their average have no effect. Nothing is decided.
func TestExplain(t *testing.T) {
	const d = 80
	random := rand.New(rand.NewPCG(1, 2))
	a := must.M1(New(Config{Waves: None, Floor: 1}.Contextual(2, d)))
	contexts := func() []float32 {
		x := make([]float32, d)
		for i := range x {
			x[i] = 10 + 2*float32(random.NormFloat64())
		}
		x[5] = 7 // always
		return x
	}
	reward := func(arm int, x []float32) float32 { return float32(arm)*(x[0]-10) - 3*(x[70]-10) }
	for range 1500 {
		m := Menu{Context: contexts()}
		got := must.M1(a.Decide(t.Context(), m))
		must.M(a.Observe(t.Context(), Feedback{ID: got.ID, Reward: reward(got.Action, m.Context)}))
	}
	made := a.pending.made()
	x := contexts()
	x[0], x[70] = 14, 13
	for arm, e := range must.M1(a.Explain(t.Context(), Menu{Context: x}, 256)) {
		if off := e.Mean - float64(reward(arm, x)); math.Abs(off) > 4*e.SD+0.3 || len(e.Context) != d-1 || e.Action != nil {
			t.Errorf("arm %d: got estimate %v of %v, with %d effects", arm, e.Estimate, reward(arm, x), len(e.Context))
		}
		for _, f := range e.Context {
			want := map[int]float64{0: 4 * float64(arm), 70: -9}[f.Number]
			if f.Number == 5 || math.Abs(f.Mean-want) > 5*f.SD+0.5 {
				t.Errorf("arm %d: number %d has the effect %v, want %v", arm, f.Number, f.Estimate, want)
			}
		}
	}
	if a.pending.made() != made {
		t.Error("Explain has made a decision")
	}
	if _, err := a.Explain(t.Context(), Menu{Context: x[:3]}, 256); err == nil {
		t.Error("Explain with a short context: got no error")
	}
	if _, err := a.Explain(t.Context(), Menu{Context: x}, 1); err == nil {
		t.Error("Explain by one function: got no error")
	}
	linear := must.M1(Linear(2))
	for i := range 200 {
		x := []float32{float32(i%5) - 2, float32(i%3) - 1}
		must.M(linear.Add(x, 2*x[0]-x[1]))
	}
	all := must.M1(linear.Explain(t.Context(), Menu{Actions: [][]float32{{2, 1}, {0, -1}}}, 256))
	if e := all[0].Action; len(e) != 2 || math.Abs(e[0].Mean-4) > 0.3 || math.Abs(e[1].Mean+1) > 0.3 {
		t.Errorf("effects on action 0: got %v, want about 4 and -1", e)
	}
	if e := all[1].Action; len(e) != 1 || e[0].Number != 1 || math.Abs(e[0].Mean-1) > 0.3 {
		t.Errorf("effects on action 1: got %v, want about 1 of number 1", e)
	}
	if all := must.M1(must.M1(Arms(3)).Explain(t.Context(), Menu{}, 16)); len(all) != 3 || all[0].SD <= 0 {
		t.Errorf("explanations of 3 arms: got %v, want 3 with a positive standard deviation", all)
	}
}
