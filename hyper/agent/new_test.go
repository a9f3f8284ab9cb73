package agent

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"

	. "github.com/gomlx/gomlx/core/graph"
)

// An agent chooses among three prices. The rewards are sales in dollars, and their scale is not given.
func ExampleArms() {
	seller := must.M1(Arms(3))
	sales, customers := []float64{4000, 5000, 4500}, rand.New(rand.NewPCG(1, 2))
	chosen := make([]int, 3)
	for range 300 {
		price := must.M1(seller.Act(context.Background(), nil)).Action
		must.M(seller.Told([]float32{float32(price)}, float32(sales[price]+300*customers.NormFloat64())))
		chosen[price]++
	}
	fmt.Println("chosen most often: price 1:", chosen[1] > 200)
	// Output: chosen most often: price 1: true
}

// An agent chooses the best of five offers with two features each. Each customer gets new offers.
func ExampleLinear() {
	clerk := must.M1(Linear(2))
	r, late := rand.New(rand.NewPCG(1, 2)), 0
	for customer := range 100 {
		offers, best := make([][]float32, 5), 0
		worth := func(x []float32) float32 { return 20 + 3*x[0] - x[1] }
		for i := range offers {
			offers[i] = []float32{float32(r.NormFloat64()), float32(r.NormFloat64())}
			if worth(offers[i]) > worth(offers[best]) {
				best = i
			}
		}
		choice := must.M1(clerk.Act(context.Background(), offers)).Action
		must.M(clerk.Told(offers[choice], worth(offers[choice])+float32(r.NormFloat64())))
		if customer >= 50 && choice == best {
			late++
		}
	}
	fmt.Println("the best of five for most of the last 50 customers:", late > 35)
	// Output: the best of five for most of the last 50 customers: true
}

// An agent finds a dose whose effect has a maximum, which no line has.
func ExampleNeural() {
	doctor := must.M1(Neural(1, 20))
	doses := [][]float32{{-1.5}, {-1}, {-0.5}, {0}, {0.5}, {1}, {1.5}}
	r, chosen := rand.New(rand.NewPCG(1, 2)), make([]int, len(doses))
	for range 100 {
		dose := must.M1(doctor.Act(context.Background(), doses)).Action
		x := float64(doses[dose][0])
		must.M(doctor.Told(doses[dose], float32(100-10*(x-0.5)*(x-0.5)+r.NormFloat64())))
		chosen[dose]++
	}
	fmt.Println("chosen most often: the dose 0.5:", chosen[4] > 40)
	// Output: chosen most often: the dose 0.5: true
}

// lines is a world of actions with features, drawn anew for each run. Mean rewards are a linear function with an
// intercept.
type lines struct{ Actions, Features int }

func (w *lines) Validate() error { return faults.AtLeast("Actions", w.Actions, 1) }

func (w *lines) Problem() bandit.Problem {
	return bandit.Problem{Actions: w.Actions, Features: w.Features}
}

func (w *lines) Init(s rng.Stream, _ hyper.Numbers) bandit.State {
	x := s.Named("x").Normal(w.Actions, w.Features)
	theta := s.Named("theta").Normal(1, w.Features)
	return bandit.State{"x": x, "mean": AddScalar(ReduceSum(Mul(x, theta), 2), 2)}
}

func (w *lines) Offer(state bandit.State, _ hyper.Numbers, _ rng.Stream, _ *Node) (bandit.Offer, bandit.State) {
	return bandit.Offer{X: state["x"]}, state
}

func (w *lines) Step(state bandit.State, _ hyper.Numbers, s rng.Stream, _, action *Node) (bandit.Outcome,
	bandit.State) {
	means := state["mean"]
	at := OneHot(action, w.Actions, means.DType())
	mean := ReduceSum(Mul(means, at), 1)
	return bandit.Outcome{Reward: Add(mean, Squeeze(s.Normal(1), 1)), Regret: Sub(ReduceMax(means, 1), mean)}, state
}

func seeds(n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(1000 + i)
	}
	return out
}

// regrets returns the cumulative regrets of the runs from a period on.
func regrets(h []history, from int) []float64 {
	out := make([]float64, len(h[0].regrets))
	for _, p := range h[from:] {
		for r, x := range p.regrets {
			out[r] += float64(x)
		}
	}
	return out
}

// meanError returns the mean and its standard error.
func meanError(x []float64) (mean, se float64) {
	mean, sd := stat.MeanStdDev(x, nil)
	return mean, sd / math.Sqrt(float64(len(x)))
}

// The agents for rewards of any scale have the same regret with rewards in thousandths and in thousands, and far from
// 0. Scaling by a power of two has no rounding errors, and gives the same actions. Other scales have rounding errors of
// at most 100 x 2^-24 = 6e-6 standard deviations of a reward. They change an action now and then, and all that follows.
// Runs with one seed then differ like two runs: their mean regrets differ by less than 4 joint standard errors, sqrt(2)
// times the standard error of the first. All agents learn: the regret of a late period is below half of the regret of
// an early one.
func TestRewardsOfAnyScale(t *testing.T) {
	const runs = 8
	for _, c := range []struct {
		name    string
		config  Config
		world   bandit.World
		periods int
		scales  [][2]float64 // with offsets
	}{
		{"arms", Config{}.Arms(10), &bandit.Gaussian{Arms: 10, PriorVariance: 1, NoiseVariance: 0.5}, 200,
			[][2]float64{{1. / 1024, 0}, {1e3, 0}}},
		{"linear", Config{}.Linear(4), &lines{20, 4}, 100, [][2]float64{{1e-3, 100}}},
		{"neural", Config{}.Neural(4, 8), &bandit.Neural{Actions: 20, Features: 4, Generator: []int{3}, Noise: 0.5}, 60,
			[][2]float64{{1e-3, 100}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "linear" {
				NotInShort(t)
			}
			t.Parallel()
			run := func(scale, offset float64) []history {
				return simulate(t, backend.Go, c.config.Learner, c.world, seeds(runs), c.periods, scale, offset)
			}
			first := run(1, 0)
			mean, se := meanError(regrets(first, 0))
			early, _ := meanError(regrets(first[:c.periods/4], 0))
			late, _ := meanError(regrets(first, c.periods-c.periods/4))
			if !(late < early/2) {
				t.Errorf("regret: %.1f in the first quarter and %.1f in the last, want a decrease", early, late)
			}
			for _, by := range c.scales {
				h := run(by[0], by[1])
				differ := 0
				for i := range h {
					for r, action := range h[i].actions {
						if action != first[i].actions[r] {
							differ++
						}
					}
				}
				if by == [2]float64{1. / 1024, 0} && differ > 0 {
					t.Errorf("scale %v: %d actions differ, want none", by[0], differ)
				}
				other, _ := meanError(regrets(h, 0))
				t.Logf("early %.1f, late %.1f; scale and offset %v: regret %.2f, want %.2f +- %.2f; %d of %d actions differ",
					early, late, by, other, mean, se, differ, runs*c.periods)
				if math.Abs(other-mean) > 4*math.Sqrt2*se {
					t.Errorf("scale and offset %v: got regret %.2f, want %.2f +- %.2f as with scale 1", by, other, mean, se)
				}
			}
		})
	}
}

// Arms has the same regret as exact Thompson sampling, which knows the variances. With ten arms and noise as large as
// the differences between arms, mean regrets over 100 and 400 runs of 500 periods differ by less than 3 standard
// errors.
func TestArmsAreExact(t *testing.T) {
	NotInShort(t)
	const arms, periods = 10, 500
	l := Config{}.Arms(arms).Learner
	h := simulate(t, backend.Go, l, &bandit.Gaussian{Arms: arms, PriorVariance: 1, NoiseVariance: 1}, seeds(100),
		periods, 1, 0)
	got, se := meanError(regrets(h, 0))
	r := rand.New(rand.NewPCG(1, 2))
	exact := make([]float64, 400)
	for i := range exact {
		exact[i] = thompson(r, arms, periods)
	}
	want, seWant := meanError(exact)
	t.Logf("got regret %.1f +- %.1f, want about %.1f +- %.1f as from exact Thompson sampling", got, se, want, seWant)
	if math.Abs(got-want) > 3*math.Hypot(se, seWant) {
		t.Errorf("got regret %.1f +- %.1f, want about %.1f +- %.1f as from exact Thompson sampling",
			got, se, want, seWant)
	}
}

// thompson returns the regret of exact Thompson sampling with arms and noise of variance 1.
func thompson(r *rand.Rand, arms, periods int) (regret float64) {
	theta, n, sum := make([]float64, arms), make([]float64, arms), make([]float64, arms)
	best := math.Inf(-1)
	for i := range theta {
		theta[i] = r.NormFloat64()
		best = max(best, theta[i])
	}
	for range periods {
		arm, top := 0, math.Inf(-1)
		for i := range theta {
			if v := sum[i]/(1+n[i]) + r.NormFloat64()/math.Sqrt(1+n[i]); v > top {
				arm, top = i, v
			}
		}
		regret += best - theta[arm]
		n[arm]++
		sum[arm] += theta[arm] + r.NormFloat64()
	}
	return regret
}

// Predictions are in the units of the responses: an offset far from 0 and a line are learned.
func TestSamplesAreInUnits(t *testing.T) {
	NotInShort(t)
	r := rand.New(rand.NewPCG(1, 2))
	for name, a := range map[string]*Agent{
		"linear": must.M1(New(Config{Backend: backend.Go}.Linear(2))),
		"neural": must.M1(New(Config{Backend: backend.Go}.Neural(2, 10))),
	} {
		for range 100 {
			x := []float32{float32(r.NormFloat64()), float32(r.NormFloat64())}
			must.M(a.Told(x, 1e4*(50+x[0]+float32(0.1*r.NormFloat64()))))
		}
		at := [][]float32{{0, 0}, {1, 0}, {-1, 0}}
		mean := make([]float64, 3)
		for _, f := range must.M1(a.Sample(at, 200)) {
			for i, y := range f {
				mean[i] += float64(y) / 200 / 1e4
			}
		}
		for i, want := range []float64{50, 51, 49} {
			if math.Abs(mean[i]-want) > 0.25 { // the prior weighs against a tenth of noise, taken for half of the variance
				t.Errorf("%s: means %.2f, want 50, 51, 49", name, mean)
				break
			}
		}
	}
}

// An agent that observes after each act takes the same actions as its learner in a simulation with its seed.
func TestAgentIsTheLearner(t *testing.T) {
	const periods = 20
	net := base.MLP{Layers: []int{3, 4, 1}}
	n := hyper.NumTheta(net)
	particles := hyper.Model{Base: net, Hyper: hyper.Ensemble{Particles: 4, Params: n},
		Prior: &hyper.Prior{Base: net, Layout: hyper.Dense(n, 4)}}
	arms, actions := &bandit.Gaussian{Arms: 5, PriorVariance: 1, NoiseVariance: 1},
		&bandit.Neural{Actions: 5, Features: 3, Generator: []int{3}, Noise: 1}
	for name, c := range map[string]struct {
		learner learner.Learner
		world   bandit.World
	}{
		"exact arms": {learner.Learner{Belief: items5(), Policy: explore.Thompson{}}, arms},
		"standardised, IDS": {learner.Learner{
			Belief: items5(), Policy: explore.IDS{N: 20}, Train: train.Config{Standardize: true},
		}, arms},
		"sums": {learner.Learner{
			Belief: items5(), Policy: explore.TopTwo{}, Train: train.Config{Integrate: train.FullData},
		}, arms},
		"sampled": {learner.Learner{
			Belief: items5(), Policy: explore.UCB{}, StepSize: 0.05,
			Train: train.Config{Integrate: train.Sampled, Batch: 8},
		}, arms},
		"ensemble": {learner.Learner{
			Belief: particles, Policy: explore.Thompson{}, StepSize: 0.05, Train: train.Config{Batch: 8},
		}, actions},
		"Adam, egreedy": {learner.Learner{
			Belief: particles, Policy: explore.EpsilonGreedy{}, Train: train.Config{Batch: 8},
		}, actions},
		"standardised, Adam": {learner.Learner{
			Belief: particles, Policy: explore.Thompson{}, Train: train.Config{Batch: 8, Standardize: true},
		}, actions},
	} {
		if testing.Short() && name != "standardised, IDS" && name != "ensemble" {
			continue
		}
		all := seeds(2)
		h := simulate(t, backend.Go, c.learner, c.world, all, periods, 1, 0)
		problem := c.world.Problem()
		for run, seed := range all {
			a := must.M1(New(Config{Learner: c.learner, Features: problem.Features, Floor: -1, Seed: seed, Backend: backend.Go}))
			for i, p := range h {
				var x [][]float32
				if problem.Features > 0 {
					for j := range problem.Actions {
						at := (run*problem.Actions + j) * problem.Features
						x = append(x, p.inputs[at:at+problem.Features])
					}
				}
				action := must.M1(a.Act(context.Background(), x)).Action
				if action != int(p.actions[run]) {
					t.Errorf("%s, seed %d, period %d: got action %d, want %d as in the simulation",
						name, seed, i, action, p.actions[run])
					break
				}
				input := []float32{float32(action)}
				if x != nil {
					input = x[action]
				}
				must.M(a.Told(input, p.rewards[run]))
			}
		}
	}
}

// items5 returns a diagonal model of five items.
func items5() hyper.Model { return Config{}.Arms(5).Learner.Belief.(hyper.Model) }
