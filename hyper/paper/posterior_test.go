package paper

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// runsOf returns the one-sparse bandit's actions for several runs, as the environment does.
func runsOf(n, runs int) [][][]float32 {
	return slices.Repeat([][][]float32{(&bandit.OneSparse{Size: n}).Actions()}, runs)
}

// The posterior of independent arms equals the posterior of linear regression on one-hot vectors. An arm that was never
// played keeps the prior. The two runs have different data and variances.
func TestIndependentArms(t *testing.T) {
	const arms = 3
	played := [][]int32{{0, 1}, {0, 0}, {1, 1}, {0, 1}} // [data, runs]; no run plays the last arm
	rewards := [][]float32{{0.5, -1}, {1.5, 2}, {-0.75, 0.25}, {0.25, 1}}
	prior, noise := []float32{2.25, 0.5}, []float32{1, 0.25}
	out := testbackend.Eval[float64](t, backend.Go, func(in []*Node) []*Node {
		a, g := exactAgent{arms: arms}, in[0].Graph()
		s, n := rng.New(Const(g, []uint64{0, 1})), hyper.Numbers{"PriorVariance": in[0], "NoiseVariance": in[1]}
		state := a.Init(s, n)
		for i := range played {
			state = a.Learn(state, n, s, lab.Datum{Action: Const(g, played[i]), Reward: Const(g, rewards[i])})
		}
		mean, sd := a.posterior(state, n, s)
		return []*Node{mean, sd}
	}, prior, noise)
	means, sds := out[0], out[1]
	for run := range prior {
		phi, y := mat.NewDense(len(played), arms, nil), mat.NewVecDense(len(played), nil)
		for i := range played {
			phi.Set(i, int(played[i][run]), 1)
			y.SetVec(i, float64(rewards[i][run]))
		}
		v := float64(prior[run])
		o := train.Oracle{Phi: phi, Y: y, NoiseVar: float64(noise[run])}
		mean, cov := must.M2(o.Posterior(nil, mat.NewDiagDense(arms, []float64{v, v, v})))
		for k := range arms {
			m, sd := means[run*arms+k], sds[run*arms+k]
			if math.Abs(m-mean.AtVec(k)) > 1e-6 || math.Abs(sd-math.Sqrt(cov.At(k, k))) > 1e-6 {
				t.Errorf("run %d, arm %d: N(%v, %v^2), want mean %v and variance %v", run, k, m, sd, mean.AtVec(k), cov.At(k, k))
			}
		}
		if sd := sds[run*arms+arms-1]; math.Abs(sd-math.Sqrt(v)) > 1e-6 {
			t.Errorf("run %d: an arm without data has the standard deviation %v, want %v", run, sd, math.Sqrt(v))
		}
	}
}

// After five actions and rewards the posterior's weights follow Bayes' rule in double precision: w_n is proportional to
// the product of N(y; x_n, sigma_w^2). Two runs have different actions, rewards and noise. Log-weights of up to a
// hundred have rounding errors of 1e-5.
func TestExactPosteriorOfOneSparse(t *testing.T) {
	const n = 4
	actions := (&bandit.OneSparse{Size: n}).Actions() // four one-hot vectors, (1 2)/2 and (3 4)/2
	played := [][2]int32{{0, 4}, {4, 4}, {5, 1}, {3, 2}, {4, 5}}
	rewards := [][2]float32{{0.2, 0.3}, {0.4, 0.6}, {0.1, -0.2}, {0.15, 0.9}, {0.6, 0.25}}
	noise := []float32{0.04, 0.5}
	a := finiteAgent{n: n, policy: explore.Thompson{}}
	out := testbackend.Eval[float64](t, backend.Go, func(in []*Node) []*Node {
		state := a.Init(rng.New(in[0]), nil)
		for i := range played {
			d := lab.Datum{Action: Const(in[0].Graph(), played[i][:]), Reward: Const(in[0].Graph(), rewards[i][:]),
				Inputs: in[2]}
			state = a.Learn(state, hyper.Numbers{"NoiseVariance": in[1]}, rng.Stream{}, d)
		}
		return []*Node{Softmax(state["log-weights"], -1), state["log-weights"]}
	}, []uint64{1, 2}, noise, runsOf(n, 2))
	got, logs := out[0], out[1]
	for run := range 2 {
		weights, sum := make([]float64, n), 0.0
		for m := range weights {
			weights[m] = 1
			for i := range played {
				weights[m] *= distuv.Normal{Mu: float64(actions[played[i][run]][m]),
					Sigma: math.Sqrt(float64(noise[run]))}.Prob(float64(rewards[i][run]))
			}
			sum += weights[m]
		}
		for m := range weights {
			if want := weights[m] / sum; math.Abs(got[run*n+m]-want) > 1e-5*want+1e-7 {
				t.Errorf("run %d: weight %d is %v, want %v", run, m, got[run*n+m], want)
			}
		}
		if largest := slices.Max(logs[run*n:][:n]); largest != 0 {
			t.Errorf("run %d: the largest log-weight is %v, want 0", run, largest)
		}
	}
}

// posteriors has the weights of five components in several runs: uniform, on a subset, uneven, and on a single
// component.
var posteriors = [][]float32{{0.2, 0.2, 0.2, 0.2, 0.2}, {0, 0.5, 0, 0.5, 0}, {0.4, 0.3, 0.15, 0.1, 0.05},
	{0, 0, 1, 0, 0}}

// informed returns finiteInformation for the posteriors, [run][action].
func informed(t *testing.T) (regret, variance [][]float64) {
	t.Helper()
	n := len(posteriors[0])
	out := testbackend.Eval[float64](t, backend.Go, func(in []*Node) []*Node {
		r, v := finiteInformation(in[0], in[1])
		return []*Node{r, v}
	}, posteriors, runsOf(n, len(posteriors)))
	return slices.Collect(slices.Chunk(out[0], 2*n-2)), slices.Collect(slices.Chunk(out[1], 2*n-2))
}

// r and v equal section 3.2 in double precision: r_x = E[max f - f(x)], and v_x is the mean over the best action x*
// (each x* is one theta*) of (E[f(x) | x*] - E[f(x)])^2. The tolerance is a few roundings of single precision.
func TestFiniteInformation(t *testing.T) {
	regret, variance := informed(t)
	for run, weights := range posteriors {
		for x, action := range (&bandit.OneSparse{Size: len(weights)}).Actions() {
			mean, r, v := 0.0, 0.0, 0.0
			for m, w := range weights {
				mean += float64(w) * float64(action[m])
				r += float64(w) * (1 - float64(action[m]))
			}
			for m, w := range weights {
				v += float64(w) * math.Pow(float64(action[m])-mean, 2)
			}
			if math.Abs(regret[run][x]-r) > 1e-6 || math.Abs(variance[run][x]-v) > 1e-6 {
				t.Errorf("run %d, action %d: r, v = %v, %v, want %v, %v",
					run, x, regret[run][x], variance[run][x], r, v)
			}
		}
	}
}

// They also agree with explore.Information for 20,000 functions drawn from the posterior, within 5 standard errors of a
// mean and of a variance, and a few roundings of sums of 20,000 numbers.
func TestFiniteInformationIsThatOfFunctions(t *testing.T) {
	const functions = 20_000
	regret, variance := informed(t)
	n := len(posteriors[0])
	out := testbackend.Eval[float64](t, backend.Go, func(in []*Node) []*Node {
		gumbel := Neg(Log(Neg(Log(rng.New(in[0]).Uniform(functions, n)))))
		theta := OneHot(ArgMax(Add(InsertAxes(Log(in[1]), 1), gumbel), 2), n, in[1].DType())
		r, v := explore.Information(Einsum("rfn,ran->rfa", theta, in[2]))
		return []*Node{r, v}
	}, []uint64{1, 2, 3, 4}, posteriors, runsOf(n, len(posteriors)))
	r, v := slices.Collect(slices.Chunk(out[0], 2*n-2)), slices.Collect(slices.Chunk(out[1], 2*n-2))
	for run, weights := range posteriors {
		for x, action := range (&bandit.OneSparse{Size: n}).Actions() {
			fourth := 0.0
			for m, w := range weights {
				fourth += float64(w) * math.Pow(float64(action[m])-(1-regret[run][x]), 4)
			}
			want := variance[run][x]
			if se := math.Sqrt(want / functions); math.Abs(r[run][x]-regret[run][x]) > 5*se+1e-5 {
				t.Errorf("run %d, action %d: got regret %v +- %v from functions, %v from the posterior",
					run, x, r[run][x], se, regret[run][x])
			}
			if se := math.Sqrt(max(fourth-want*want, 0) / functions); math.Abs(v[run][x]-want) > 5*se+2e-5+25*want/functions {
				t.Errorf("run %d, action %d: got variance %v +- %v from functions, %v from the posterior",
					run, x, v[run][x], se, want)
			}
		}
	}
}

// Thompson sampling with the exact posterior takes each one-hot action with the probability of its component. IDS
// minimises the information ratio, which a sample of two functions could not show. The chi-squared test over 600 runs
// rejects outcomes of probability 1e-6. If the first of 16 components has weight 0.102, and the others have equal
// weights, IDS takes the first action and the half list that contains it.
func TestExactAgentsActByThePosterior(t *testing.T) {
	const n, runs = 16, 600
	weights, logs := slices.Repeat([]float64{0.898 / 15}, n), make([]float32, n)
	weights[0] = 0.102
	for m, w := range weights {
		logs[m] = float32(math.Log(w / weights[0]))
	}
	minimiser := testbackend.Eval[float64](t, backend.Go, func(in []*Node) []*Node {
		return []*Node{explore.MinimumRatio(finiteInformation(Softmax(in[0], -1), in[1])).Probabilities(2*n - 2)}
	}, [][]float32{logs}, runsOf(n, 1))[0]
	seeds := make([]uint64, runs)
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	for name, c := range map[string]struct {
		policy explore.Policy
		want   []float64
	}{"thompson": {explore.Thompson{}, append(weights, make([]float64, n-2)...)}, "ids": {explore.IDS{N: 2}, minimiser}} {
		a := finiteAgent{n: n, policy: c.policy}
		out := testbackend.Eval[float64](t, backend.Go, func(in []*Node) []*Node {
			period := Const(in[0].Graph(), int32(0))
			action, _ := a.Act(bandit.State{"log-weights": in[1]}, nil, rng.New(in[0]), period, in[2], nil)
			if action.DType() != dtypes.Int32 {
				t.Errorf("%s: actions of type %s, want int32", name, action.DType())
			}
			return []*Node{ConvertDType(action, dtypes.Float32)}
		}, seeds, slices.Repeat([][]float32{logs}, runs), runsOf(n, runs))
		count := make([]float64, 2*n-2)
		for _, x := range out[0] {
			count[int(x)]++
		}
		chi, support := 0.0, 0
		for x, p := range c.want {
			if p == 0 {
				if count[x] > 0 {
					t.Errorf("%s: action %d of probability 0 was taken %v times", name, x, count[x])
				}
				continue
			}
			chi, support = chi+math.Pow(count[x]-p*runs, 2)/(p*runs), support+1
		}
		if p := (distuv.ChiSquared{K: float64(max(support-1, 1))}).Survival(chi); p < 1e-6 || support < 2 {
			t.Errorf("%s: actions were taken %v times, want about %.4f of %d: p = %.1g", name, count, c.want, runs, p)
		}
	}
}
