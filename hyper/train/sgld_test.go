package train

import (
	"fmt"
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/stat"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// The particles of two arms are draws from the posterior N(m, 1/lambda), up to the step size: with the whole gradient,
// x <- x - e lambda (x - m) + sqrt(2 e T) xi has the stationary variance T / (lambda (1 - e lambda/2)). 400 particles
// in 3 runs are 1,200 chains, which start at 0. After 40 steps a start of 4 is 4 (1 - 0.25)^40 = 4e-5. The mean must be
// within 4 standard errors, and the variance within 4 times sqrt(2/1200). Minibatches of 1,000 data add a hundredth of
// the noise, with a temperature of 1.
func TestSGLDDrawsFromThePosterior(t *testing.T) {
	if testing.Short() {
		t.Skip("trains many particles")
	}
	const particles, data, chains = 400, 5, 1200
	b := hyper.Model{Base: base.Tabular{Arms: 2},
		Hyper: hyper.Ensemble{Particles: particles, Params: 2, InitNu: hyper.InitZeros}}
	noise, prior := 0.5, 2.0
	for _, temperature := range []float64{0, 0.25} {
		for _, c := range []Config{
			{Steps: 40, Integrate: FullData},
			{Steps: 40, Integrate: Analytic, Batch: 1000, Capacity: data},
		} {
			if c.Integrate == Analytic && temperature > 0 {
				continue // the optimizer alone knows the temperature
			}
			c.Optimizer = SGLD{temperature}
			tr := Trainer{b, c}
			must.M(tr.Validate(b))
			out := eval(t, "go", func(in []*Node) []*Node {
				s := rng.New(in[0])
				each := func(v float64) *Node {
					return BroadcastToShape(Const(s.Graph(), float32(v)), shapes.Make(dtypes.Float32, 3))
				}
				r := Rates{Step: each(0.1 * data * particles), NoiseVar: each(noise), PriorVar: each(prior),
					Perturbation: each(0)}
				state := tr.Init(s, nil)
				for i := range data { // arm 0 has four data, arm 1 has one: responses 1, 2, ...
					arm := ConvertDType(each(float64(i/4)), dtypes.Int32)
					state = tr.Observe(state, s.Step(i), Const(s.Graph(), int32(i)), arm, each(float64(i+1)), nil, r)
				}
				state = tr.Train(state, s.Named("train"), Const(s.Graph(), int32(data)), nil, r)
				return []*Node{state["nu.0"]}
			}, []uint64{1, 2, 3})
			for arm, of := range []struct{ n, sum float64 }{{4, 1 + 2 + 3 + 4}, {1, 5}} {
				var drawn []float64
				for i := arm; i < len(out[0].v); i += 2 {
					drawn = append(drawn, out[0].v[i])
				}
				lambda, heat := of.n/noise+1/prior, temperature
				if heat == 0 {
					heat = 1
				}
				want := heat / (lambda * (1 - 0.1*lambda/2))
				mean, variance := stat.MeanVariance(drawn, nil)
				if m := of.sum / noise / lambda; math.Abs(mean-m) > 4*math.Sqrt(want/chains)+0.02 {
					t.Errorf("%s, T = %v, arm %d: a mean of %.3f, want %.3f", c.Integrate, temperature, arm, mean, m)
				}
				if math.Abs(variance/want-1) > 4*math.Sqrt(2./chains)+0.02 {
					t.Errorf("%s, T = %v, arm %d: a variance of %.4f, want %.4f",
						c.Integrate, temperature, arm, variance, want)
				}
			}
		}
	}
}

// Two periods, and two steps, have different noise. A run does not depend on the runs beside it.
func TestSGLDNoise(t *testing.T) {
	b := hyper.Model{Base: base.Tabular{Arms: 2}, Hyper: hyper.Ensemble{Particles: 1, Params: 2, InitNu: hyper.InitZeros}}
	moved := func(steps int, seeds ...uint64) []float64 {
		tr := Trainer{b, Config{Steps: steps, Integrate: Sampled, Batch: 1, Indices: 1, Capacity: 1, Optimizer: SGLD{}}}
		return eval(t, "go", func(in []*Node) []*Node {
			s := rng.New(in[0])
			one := Ones(s.Graph(), shapes.Make(dtypes.Float32, len(seeds)))
			r := Rates{Step: MulScalar(one, 1e-4), NoiseVar: one, PriorVar: one, Perturbation: ZerosLike(one)}
			size := Const(s.Graph(), int32(1))
			state := tr.Init(s, nil)
			out := []*Node{state["nu.0"]}
			for period := range 2 {
				state = tr.Train(state, s.At(Const(s.Graph(), int32(period))), size, nil, r)
				out = append(out, state["nu.0"])
			}
			return []*Node{Concatenate(out, 1)}
		}, seeds)[0].v
	}
	one, two := moved(1, 7), moved(2, 7)
	for i := range 2 {
		first, second, step := one[2+i]-one[i], one[4+i]-one[2+i], two[2+i]-one[2+i]
		if first == 0 || math.Abs(first-second) < 1e-6 || math.Abs(step-first) < 1e-6 {
			t.Errorf("got moves of %g and %g in two periods, and of %g in a second step, want different ones",
				first, second, step)
		}
	}
	if beside := moved(1, 3, 7); fmt.Sprint(beside[6:]) != fmt.Sprint(one) {
		t.Errorf("run next to another: got %v, alone %v", beside[6:], one)
	}
}

// Langevin dynamics need particles, and steps that move all particles.
func TestSGLDValidate(t *testing.T) {
	arms := base.Tabular{Arms: 2}
	c := Config{Steps: 1, Integrate: Sampled, Batch: 1, Indices: 1, Capacity: 1, Optimizer: SGLD{}}
	for _, bad := range []struct {
		b    hyper.Belief
		want string
	}{
		{hyper.Model{Base: arms, Hyper: hyper.Ensemble{Particles: 3, Params: 2}}, "Integrate analytic"},
		{hyper.NewEpinet(2), "one network or an ensemble"},
	} {
		if err := fmt.Sprint(c.Validate(bad.b)); !strings.Contains(err, bad.want) {
			t.Errorf("%T: %s, want %q", bad.b, err, bad.want)
		}
	}
	if err := c.Validate(hyper.NewNetworkGP(2)); err != nil {
		t.Errorf("Validate of a network with a process: got error %v, want none", err)
	}
	if (SGLD{Temperature: -1}).Validate() == nil {
		t.Error("negative temperature: got no error")
	}
}

func ExampleSGLD() {
	fmt.Println(SGLD{Temperature: 0.1}.Validate(), Config{Optimizer: SGLD{}}.LinearSteps())
	fmt.Println(SGLD{Temperature: -1}.Validate())
	// Output:
	// <nil> true
	// Temperature must be finite and not negative, got -1
}
