package agent_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
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

// changing is a config for rewards of five arms, as one-hot inputs, with a discount and a test of change.
func changing(seed uint64, discount float64, change *agent.Change) agent.Config {
	return agent.Config{
		Learner: learner.Learner{Belief: hyper.BayesianLinear{Features: arms}, NoiseVariance: 1, PriorVariance: 13.5,
			Train: train.Config{Integrate: train.Exact, Discount: discount}},
		Features: arms, Floor: -1, Seed: seed, Backend: backend.Go, Change: change,
	}
}

// arms is how many there are; with phi(x) = (x, 1) / sqrt(6) a prior variance of 13.5 makes mean rewards N(0, 4.5).
const arms = 5

func oneHots() [][]float32 {
	x := make([][]float32, arms)
	for i := range x {
		x[i] = make([]float32, arms)
		x[i][i] = 1
	}
	return x
}

// An alarm comes after the change and not before; with Restart the agent is what it was before all data, but for the
// datum of the alarm. A file of an agent with a test goes on as the agent does.
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
			t.Fatalf("datum %d: %+v, after a file %+v", i, a.Alarms(), twin.Alarms())
		}
		if at == 0 && a.Alarms().Count > 0 {
			at = i + 1
			fresh := must.M1(agent.New(changing(1, 1, nil)))
			must.M(fresh.Told(x[i%arms], y))
			if got, want := must.M1(a.Snapshot().Sample(x, 50)), must.M1(fresh.Snapshot().Sample(x, 50)); !reflect.DeepEqual(got, want) {
				t.Error("the belief after a restart is not that of the one datum")
			}
		}
	}
	got := a.Alarms()
	if at <= 200 || at > 210 || got.Count != 1 || got.Last != at || got.Seen != 300 || a.Size() != 300-at+1 {
		t.Errorf("first alarm at %d, %+v, %d data", at, got, a.Size())
	}
}

// A test that cannot be says why.
func TestChangeIsChecked(t *testing.T) {
	for _, run := range []float64{-1, 0.5, math.NaN(), math.Inf(1)} {
		if _, err := agent.New(changing(1, 1, &agent.Change{Run: run})); err == nil || !strings.Contains(err.Error(), "Change.Run") {
			t.Errorf("%v: %v", run, err)
		}
	}
}

// regret is that of an agent in a world whose arms are N(0, 4.5), all of them new after 250 periods, of 500.
func abruptRegret(seed uint64, c agent.Config) (before, after float64) {
	a, x, r := must.M1(agent.New(c)), oneHots(), rand.New(rand.NewPCG(seed, 8))
	defer a.Close()
	var means [arms]float64
	const periods = 500
	for i := range periods {
		if i%250 == 0 {
			for j := range means {
				means[j] = math.Sqrt(4.5) * r.NormFloat64()
			}
		}
		noise := r.NormFloat64()
		d := must.M1(a.Act(context.Background(), x))
		best := means[0]
		for _, m := range means {
			best = max(best, m)
		}
		must.M(a.Observe(context.Background(), agent.Feedback{ID: d.ID, Reward: float32(means[d.Action] + noise)}))
		if lost := (best - means[d.Action]) / (periods / 2); i < periods/2 {
			before += lost
		} else {
			after += lost
		}
	}
	return before, after
}

// After an abrupt change a discount, and a restart at an alarm, both lose less than an agent that keeps all data; paired
// over 30 worlds.
func TestForgettingHelps(t *testing.T) {
	const runs = 30
	window := func(seed uint64) agent.Config {
		c := changing(seed, 1, nil)
		c.Learner = learner.Learner{Belief: lineModel(arms, arms), NoiseVariance: 1, PriorVariance: 13.5,
			Train: train.Config{Integrate: train.Analytic, Capacity: 100, Steps: 4, Batch: 32}}
		c.Replay = agent.Window
		return c
	}
	all := []struct {
		name   string
		config func(seed uint64) agent.Config
	}{
		{"none", func(s uint64) agent.Config { return changing(s, 1, nil) }},
		{"discount 0.98", func(s uint64) agent.Config { return changing(s, 0.98, nil) }},
		{"restart", func(s uint64) agent.Config { return changing(s, 1, &agent.Change{Restart: true}) }},
		{"window 100, SGD", window},
	}
	var before, after [4][]float64
	for i, c := range all {
		for s := range runs {
			x, y := abruptRegret(uint64(s), c.config(uint64(s)))
			before[i], after[i] = append(before[i], x), append(after[i], y)
		}
		saved := make([]float64, runs)
		for s := range saved {
			saved[s] = after[0][s] - after[i][s]
		}
		m, sd := stat.MeanStdDev(saved, nil)
		t.Log(fmt.Sprintf("%s: regret per period %.3f before the change, %.3f after; saved %.3f +- %.3f", c.name,
			stat.Mean(before[i], nil), stat.Mean(after[i], nil), m, 1.96*sd/math.Sqrt(runs)))
		if (i == 1 || i == 2) && m < 1.96*sd/math.Sqrt(runs) {
			t.Errorf("%s saves %.3f a period, deviation %.3f", c.name, m, sd)
		}
	}
}
