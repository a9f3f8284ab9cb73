package agent_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// changing returns a config for rewards of five arms, as one-hot inputs, with a discount and a test of change.
func changing(seed uint64, discount float64, change *agent.Change) agent.Config {
	return agent.Config{
		Learner: learner.Learner{Belief: hyper.BayesianLinear{Features: arms}, NoiseVariance: 1, PriorVariance: 13.5,
			Train: train.Config{Integrate: train.Exact, Discount: discount}},
		Features: arms, Floor: -1, Seed: seed, Backend: backend.Go, Change: change,
	}
}

// arms is the number of arms. With phi(x) = (x, 1) / sqrt(6), a prior variance of 13.5 makes mean rewards N(0, 4.5).
const arms = 5

// changingBlocks returns changing with a block for each arm. Such an agent learns in plain Go, which takes a tenth of
// the time. The function numbered makes its inputs.
func changingBlocks(seed uint64, discount float64, change *agent.Change) agent.Config {
	c := changing(seed, discount, change)
	c.Learner.Belief = hyper.BayesianLinear{Features: 2, Blocks: arms, Numbered: true, Plain: true}
	c.Features, c.Learner.PriorVariance = 2, variance
	return c
}

func numbered() [][]float32 {
	x := make([][]float32, arms)
	for i := range x {
		x[i] = []float32{float32(i), 1}
	}
	return x
}

func oneHots() [][]float32 {
	x := make([][]float32, arms)
	for i := range x {
		x[i] = make([]float32, arms)
		x[i][i] = 1
	}
	return x
}

// An alarm comes after the change and not before. With Restart, the agent is then as before all data, except for the
// datum of the alarm. An agent with a test that is loaded from a file continues as the saved agent does.
func TestChangeRestarts(t *testing.T) {
	x, r := oneHots(), rand.New(rand.NewPCG(5, 6))
	c := changing(1, 1, &agent.Change{Restart: true})
	a, twin := must.M1(agent.New(c)), must.M1(agent.New(c))
	path, at := filepath.Join(t.TempDir(), "agent"), 0
	for i := range 300 {
		mean := float32(2)
		if i >= 200 {
			mean = -2
		}
		if i == 202 { // there is some evidence by now
			must.M(twin.Save(path))
			twin = must.M1(agent.Load(c, path))
		}
		y := mean + float32(r.NormFloat64())
		must.M(a.Told(x[i%arms], y))
		must.M(twin.Told(x[i%arms], y))
		if a.Alarms() != twin.Alarms() {
			t.Fatalf("datum %d: got alarms %+v, and %+v after loading, want equal alarms", i, a.Alarms(), twin.Alarms())
		}
		if at == 0 && a.Alarms().Count > 0 {
			at = i + 1
			fresh := must.M1(agent.New(changing(1, 1, nil)))
			must.M(fresh.Told(x[i%arms], y))
			if got, want := must.M1(a.Snapshot().Sample(x, 50)), must.M1(fresh.Snapshot().Sample(x, 50)); !reflect.DeepEqual(got, want) {
				t.Error("the belief after a restart differs from the belief after one datum")
			}
		}
	}
	got := a.Alarms()
	if at <= 200 || at > 210 || got.Count != 1 || got.Last != at || got.Seen != 300 || a.Size() != 300-at+1 {
		t.Errorf("got the first alarm at %d, alarms %+v, %d data, want one alarm within 10 data of the change",
			at, got, a.Size())
	}
}

// An invalid test of change returns an error that says why.
func TestChangeIsChecked(t *testing.T) {
	for _, run := range []float64{-1, 0.5, math.NaN(), math.Inf(1)} {
		if _, err := agent.New(changing(1, 1, &agent.Change{Run: run})); err == nil || !strings.Contains(err.Error(), "Change.Run") {
			t.Errorf("run %v: got error %v, want one about Change.Run", run, err)
		}
	}
}

// Without a change, agents have no more alarms than the bound, even if the noise has ten times the variance that they
// assume: 20 agents with 300 data each have at most 0.6 expected alarms.
func TestChangeOfNothing(t *testing.T) {
	agent.NotInShort(t)
	x := numbered()
	for _, noiseVariance := range []float64{1, 0.1} {
		alarms := 0
		for seed := range uint64(20) {
			c := changingBlocks(seed, 1, &agent.Change{})
			c.Learner.NoiseVariance = noiseVariance
			a, r := must.M1(agent.New(c)), rand.New(rand.NewPCG(seed, 3))
			var means [arms]float64
			abrupt(r, &means, 0)
			for range 300 {
				arm := r.IntN(arms)
				must.M(a.Told(x[arm], float32(means[arm]+r.NormFloat64())))
			}
			alarms += a.Alarms().Count
			a.Close()
		}
		if alarms > 3 {
			t.Errorf("noise variance %v: got %d false alarms, want at most 3", noiseVariance, alarms)
		}
	}
}

// A belief in probabilities gets rewards of 0 and 1: nine in ten are 1, and after the change one in ten.
func TestChangeOfProbabilities(t *testing.T) {
	agent.NotInShort(t)
	c := agent.Config{Backend: backend.Go, Change: &agent.Change{}}.Linear(1)
	c.Learner.Train = train.Config{Loss: train.LogisticLoss{}, Integrate: train.Sampled}
	c.Learner.Perturbation, c.Learner.NoiseVariance = -1, 1
	a := must.M1(agent.New(c))
	for i := range 220 {
		y, rare := float32(1), float32(0)
		if i >= 200 {
			y, rare = rare, y
		}
		if i%10 == 0 {
			y = rare
		}
		must.M(a.Told([]float32{1}, y))
		if got := a.Alarms(); i < 200 && got.Count > 0 || i == 219 && got.Count != 1 {
			t.Fatalf("datum %d: got alarms %+v, want none before the change and one after it", i+1, got)
		}
	}
}

// A service detects a change: sales of 50 fall to 20.
func ExampleAgent_Alarms() {
	a := must.M1(agent.New(agent.Config{
		Learner:  learner.Learner{Belief: hyper.BayesianLinear{Features: 1}, NoiseVariance: 25, PriorVariance: 2500},
		Features: 1, Backend: backend.Go, Change: &agent.Change{Restart: true},
	}))
	noise := rand.New(rand.NewPCG(1, 2))
	for day := range 200 {
		mean := 50.0
		if day >= 100 {
			mean = 20
		}
		must.M(a.Add([]float32{0}, float32(mean+5*noise.NormFloat64())))
	}
	found := a.Alarms()
	fmt.Println(found.Count, "alarm, on day", found.Last, "and", a.Size(), "data since")
	// Output: 1 alarm, on day 105 and 96 data since
}

// world changes the mean rewards of the arms at the beginning of a period.
type world func(r *rand.Rand, means *[arms]float64, period int)

const (
	periods  = 400
	variance = 4.5 // of mean rewards
)

// abrupt draws new mean rewards in the middle.
func abrupt(r *rand.Rand, means *[arms]float64, period int) {
	if period%(periods/2) == 0 {
		for j := range means {
			means[j] = math.Sqrt(variance) * r.NormFloat64()
		}
	}
}

// drifting is bandit.Drifting with a drift of 0.01.
func drifting(r *rand.Rand, means *[arms]float64, period int) {
	drift := 0.01
	if period == 0 {
		drift = 1
	}
	for j, m := range means {
		means[j] = math.Sqrt(1-drift)*m + math.Sqrt(drift*variance)*r.NormFloat64()
	}
}

// lateRegret returns the mean regret of the second half of the periods. Noise is N(0, 1).
func lateRegret(seed uint64, c agent.Config, w world) (regret float64, alarms agent.Alarms) {
	a, x := must.M1(agent.New(c)), numbered()
	defer a.Close()
	of, noise := rand.New(rand.NewPCG(seed, 8)), rand.New(rand.NewPCG(seed, 9))
	var means [arms]float64
	for i := range periods {
		w(of, &means, i)
		d := must.M1(a.Act(context.Background(), x))
		got := means[d.Action] + noise.NormFloat64()
		must.M(a.Observe(context.Background(), agent.Feedback{ID: d.ID, Reward: float32(got)}))
		if i >= periods/2 {
			regret += (slices.Max(means[:]) - means[d.Action]) / (periods / 2)
		}
	}
	return regret, a.Alarms()
}

// An agent that keeps all data loses more than a restart at an alarm in a world that changes abruptly, and more than a
// discount in a world that drifts. The differences in 16 worlds have 95% intervals above 0.
func TestForgettingHelps(t *testing.T) {
	agent.NotInShort(t)
	const runs = 16
	for name, c := range map[string]struct {
		world    world
		discount float64
		change   *agent.Change
	}{"abrupt": {abrupt, 1, &agent.Change{Restart: true}}, "drifting": {drifting, 0.98, nil}} {
		saved, alarms := make([]float64, runs), 0
		for s := range saved {
			keeps, _ := lateRegret(uint64(s), changingBlocks(uint64(s), 1, nil), c.world)
			forgets, found := lateRegret(uint64(s), changingBlocks(uint64(s), c.discount, c.change), c.world)
			saved[s] = keeps - forgets
			alarms += found.Count
		}
		m, sd := stat.MeanStdDev(saved, nil)
		within := 1.96 * sd / math.Sqrt(runs)
		t.Logf("%s: regret is %.3f +- %.3f a period smaller; %d alarms", name, m, within, alarms)
		if !(m > within) {
			t.Errorf("%s: regret is %.3f a period smaller, +- %.3f, want an interval above 0", name, m, within)
		}
	}
}
