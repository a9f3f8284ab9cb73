package agent

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// ensemble returns an agent with a policy, whose functions of two features differ.
func ensemble(on string, p explore.Policy, b hyper.BaseModel) *Agent {
	return must.M1(New(Config{
		Learner: learner.Learner{
			Belief: hyper.Model{Base: b, Hyper: hyper.Ensemble{Particles: 20, Params: 2, InitNu: hyper.InitNormal(1)}},
			Policy: p, Train: train.Config{Integrate: train.Sampled, Capacity: 100},
		},
		Features: 2,
		Floor:    -1,
		Backend:  on,
		Seed:     3,
	}))
}

// decideBy decides by a program, with actions padded to a size.
func (a *Agent) decideBy(x [][]float32, size int, number uint64) (Decision, error) {
	_, belief := a.belief()
	defer belief.drop()
	return a.decide(belief, x, size, number)
}

func someInputs(n int) [][]float32 {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([][]float32, n)
	for i := range x {
		x[i] = []float32{float32(r.NormFloat64()), float32(r.NormFloat64())}
	}
	return x
}

// Padding changes no decision. Every policy has the same probabilities and takes the same action with no padding and
// with much, for more functions than actions and for fewer. Probabilities differ by the rounding errors of other
// programs, which the weights of IDS magnify.
func TestPaddingChangesNoDecision(t *testing.T) {
	NotInShort(t)
	line := base.Linear{Features: 2}
	for _, functions := range []int{4, 30} {
		for name, p := range Policies(functions) {
			a, x := ensemble(backend.Go, p, line), someInputs(5)
			for number := range uint64(6) {
				want := must.M1(a.decideBy(x, 5, number))
				for _, size := range []int{6, 16} {
					got := must.M1(a.decideBy(x, size, number))
					if len(got.Probabilities) != 5 || got.Action != want.Action {
						t.Fatalf("%s: got %v with padding to %d, and %v without", name, got, size, want)
					}
					for i, p := range want.Probabilities {
						if math.Abs(float64(p-got.Probabilities[i])) > 1e-4 {
							t.Fatalf("%s: probabilities %v padded to %d, %v without", name, got.Probabilities, size,
								want.Probabilities)
						}
					}
				}
			}
		}
	}
}

// Padding changes no sample.
func TestPaddingChangesNoSample(t *testing.T) {
	a, x := ensemble(backend.Go, nil, base.Linear{Features: 2}), someInputs(5)
	for _, f := range must.M1(a.Sample(x, 7)) {
		if len(f) != 5 {
			t.Fatalf("got %d values for 5 inputs", len(f))
		}
		for i, v := range f { // f is linear
			a, b := f[0], f[1]
			det := x[0][0]*x[1][1] - x[0][1]*x[1][0]
			u, w := (a*x[1][1]-b*x[0][1])/det, (b*x[0][0]-a*x[1][0])/det
			if math.Abs(float64(u*x[i][0]+w*x[i][1]-v)) > 1e-4 {
				t.Errorf("input %d: got value %v, want the value of the function of (%v, %v)", i, v, u, w)
			}
		}
	}
}

// counted is a linear model that counts how often a program is built with it, and so compiled.
type counted struct {
	base.Linear
	built *int
}

func (c counted) Apply(theta, x *Node) *Node {
	*c.built++
	return c.Linear.Apply(theta, x)
}

func (c counted) Gram(x *Node) *Node {
	*c.built++
	return c.Linear.Gram(x)
}

// A hundred numbers of actions need few programs, and 16 are kept. A program that was used recently is not built again.
func TestFewProgramsAreKept(t *testing.T) {
	built := 0
	a := ensemble(backend.Go, nil, counted{base.Linear{Features: 2}, &built})
	built = 0
	for n := 1; n <= 100; n++ {
		must.M1(a.Act(context.Background(), someInputs(n)))
		must.M1(a.Act(context.Background(), someInputs(n)))
	}
	if built != 14 || len(a.programs.all) != 14 { // 1, 2, 3, 4, 6 ... 64, 96, 128
		t.Errorf("%d programs were built and %d kept, want 14 and 14", built, len(a.programs.all))
	}
	for n := range 30 {
		must.M1(a.Sample(someInputs(2), n+1))
	}
	must.M1(a.Act(context.Background(), someInputs(2)))
	if built != 14+30+1 || len(a.programs.all) != mostPrograms {
		t.Errorf("%d programs were built and %d kept, want 45 and the maximum", built, len(a.programs.all))
	}
	for _, p := range a.programs.all {
		if p.users != 1 {
			t.Errorf("shape %+v: got %d users, want 1", p.shape, p.users)
		}
	}
}

// After a Warmup nothing is compiled, and the Warmup changes nothing else.
func TestWarmup(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, on string) {
		built := 0
		warm, cold := ensemble(on, nil, counted{base.Linear{Features: 2}, &built}),
			ensemble(on, nil, base.Linear{Features: 2})
		must.M(warm.Warmup(3, 5))
		before := built
		if warm.Size() != 0 || len(must.M1(warm.Data())) != 0 {
			t.Errorf("got %d data, want 0", warm.Size())
		}
		for i := range 3 {
			for _, n := range []int{3, 5, 6} {
				x := someInputs(n)
				got := must.M1(warm.Act(context.Background(), x))
				must.M(warm.Told(x[got.Action], 1))
				if on != backend.Go { // compiling would take seconds
					continue
				}
				if want := must.M1(cold.Act(context.Background(), x)); got.Action != want.Action {
					t.Errorf("%d of %d actions: got %v, and %v without a warmup", i, n, got, want)
				}
				must.M(cold.Told(x[got.Action], 1))
			}
		}
		if built != before || before < 3 { // Train, and Act twice
			t.Errorf("%d programs were built by the warmup, and %d after it, want none after it", before, built-before)
		}
		if err := warm.Warmup(0); err == nil {
			t.Error("Warmup for no actions: got no error")
		}
	})
}
