package agent_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// believing is a tabular model of arms whose values are independent normals with these means and standard deviation 1:
// the belief of an agent before data.
func believing(means ...float32) hyper.Model {
	n := len(means)
	layout, table := hyper.PerParameter(n, 4), base.Tabular{Arms: n}
	return hyper.Model{
		Base: table,
		Hyper: hyper.Linear{
			Layout: layout, P: index.PerArm{Arms: n, M: 4}, InitC: hyper.InitZeros,
			InitM: func(s rng.Stream, _, _ int, _ ...int) *Node { return Const(s.Graph(), [][]float32{means}) },
		},
		Prior: &hyper.Prior{Base: table, Layout: layout},
	}
}

// Importance weights are unbiased: E[1{a}/p] = 1 for every action and policy. Arm 2 is the best with probability about
// 0.05. The mean of 1{a}/p over 1,000 decisions is within 5 of its standard errors, which follow from the probabilities
// and are below 0.1.
func TestImportanceWeightsAreUnbiased(t *testing.T) {
	agent.NotInShort(t)
	const decisions, floor = 1000, 0.3
	policies := agent.Policies(10)
	policies["default"] = nil
	for name, p := range policies {
		t.Run(name, func(t *testing.T) {
			a := must.M1(agent.New(agent.Config{
				Learner: learner.Learner{Belief: believing(1, 0.8, -1.1), Policy: p, Train: train.Config{Capacity: 10}},
				Floor:   floor,
				Seed:    4,
				Backend: backend.Go,
			}))
			var mean, variance [3]float64
			for range decisions {
				d := must.M1(a.Act(context.Background(), nil))
				for x, q := range d.Probabilities {
					if !(q > 0) {
						t.Fatalf("got probabilities %v, want none of 0", d.Probabilities)
					}
					variance[x] += (1/float64(q) - 1) / decisions / decisions
				}
				mean[d.Action] += 1 / float64(d.Probabilities[d.Action]) / decisions
			}
			for x, m := range mean {
				if se := math.Sqrt(variance[x]); se > 0.1 || math.Abs(m-1) > 5*se {
					t.Errorf("action %d: E[1{a}/p] is %.3f, want 1; standard error %.3f", x, m, se)
				}
			}
		})
	}
}

// Without a Floor, an action that no function favours is never taken. With the default Floor, every action has a
// probability of at least 0.01/K.
func TestFloor(t *testing.T) {
	for floor, least := range map[float64]float32{0: 0.0025, 0.2: 0.05, 1: 0.25, -1: 0} {
		a := must.M1(agent.New(agent.Config{Learner: learner.Learner{
			Belief: believing(0, 100, 0, 0),
		}, Floor: floor, Backend: backend.Go}))
		d := must.M1(a.Act(context.Background(), nil))
		want := []float32{least, 1 - 3*least, least, least}
		for x, p := range d.Probabilities {
			if math.Abs(float64(p-want[x])) > 1e-6 {
				t.Errorf("floor %v: probabilities %v, want %v", floor, d.Probabilities, want)
			}
		}
	}
	for _, bad := range []float64{1.1, math.NaN(), math.Inf(1)} {
		if _, err := agent.New(agent.Config{Learner: learner.Learner{
			Belief: believing(0, 1),
		}, Floor: bad}); err == nil || !strings.Contains(err.Error(), "Floor") {
			t.Errorf("floor %v: got error %v, want one about Floor", bad, err)
		}
	}
}

// uniform is a user's policy, which counts the available actions.
type uniform struct{}

func (uniform) Samples() int { return 1 }

func (uniform) Decide(values *Node, now explore.Moment) (probabilities, action *Node) {
	there := OnesLike(Squeeze(values, 1))
	if now.Available != nil {
		there = ConvertDType(now.Available, values.DType())
	}
	drawn := Mul(there, now.Stream.Uniform(there.Shape().Dim(1)))
	return Div(there, ReduceAndKeep(there, ReduceSum, 1)), ArgMax(drawn, 1, dtypes.Int32)
}

// A policy receives the available actions, and never takes another one.
func TestPolicyThatCountsActions(t *testing.T) {
	a := must.M1(agent.New(agent.Config{
		Learner: learner.Learner{
			Belief: hyper.Model{Base: base.Linear{Features: 1}, Hyper: hyper.Ensemble{Particles: 3, Params: 1}},
			Policy: uniform{},
		},
		Features: 1, Floor: -1, Backend: backend.Go,
	}))
	for _, n := range []int{1, 3, 5, 7} {
		for range 20 {
			d := must.M1(a.Act(context.Background(), make1(n)))
			for x, p := range d.Probabilities {
				if math.Abs(float64(p)*float64(n)-1) > 1e-6 || d.Action >= n {
					t.Errorf("%d actions: action %d has probability %v, but action %d was taken", n, x, p, d.Action)
				}
			}
		}
	}
}

// make1 returns n inputs of one feature.
func make1(n int) [][]float32 {
	x := make([][]float32, n)
	for i := range x {
		x[i] = []float32{float32(i)/10 - 0.3}
	}
	return x
}

// Epsilon-greedy is annealed by the number of decisions only. The first decision explores with certainty, as in
// experiments, whatever was sampled before; decision t explores with probability 30/(30 + t). A file keeps the count.
func TestAnnealingCountsDecisions(t *testing.T) {
	c := agent.Config{Learner: learner.Learner{
		Belief: believing(0, 3), Policy: explore.EpsilonGreedy{}, Train: train.Config{Capacity: 10},
	}, Floor: -1, Backend: backend.Go}
	a := must.M1(agent.New(c))
	for decision := range 40 {
		must.M1(a.Sample(nil, 2))
		must.M(a.Warmup())
		if decision == 20 {
			path := t.TempDir() + "/agent"
			must.M(a.Save(path))
			a = must.M1(agent.Load(c, path))
		}
		p := must.M1(a.Act(context.Background(), nil)).Probabilities
		if got, want := float64(min(p[0], p[1])), 15/(30+float64(decision)); math.Abs(got-want) > 1e-6 {
			t.Fatalf("decision %d: got probabilities %v, want %v as the smaller one", decision, p, want)
		}
	}
}

// Samples and decisions have separate counts: neither changes the random numbers of the other.
func TestSamplesAndDecisionsHaveCountsOfTheirOwn(t *testing.T) {
	c := agent.Config{Learner: learner.Learner{Belief: believing(0, 0.1, 0.2)}, Backend: backend.Go}
	a, b := must.M1(agent.New(c)), must.M1(agent.New(c))
	for range 3 {
		must.M1(a.Act(context.Background(), nil))
	}
	if !reflect.DeepEqual(must.M1(a.Sample(nil, 4)), must.M1(b.Sample(nil, 4))) {
		t.Error("decisions have changed the samples")
	}
	for range 3 {
		must.M1(b.Act(context.Background(), nil))
	}
	if x, y := fmt.Sprintf("%#v", must.M1(a.Act(context.Background(), nil)).Nameless()),
		fmt.Sprintf("%#v", must.M1(b.Act(context.Background(), nil)).Nameless()); x != y {
		t.Errorf("a sample has changed the decision: %s, %s", x, y)
	}
}
