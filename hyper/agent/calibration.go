package agent

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/hypermodels/hypermodels/hyper/train"
)

// Calibration tells how well a belief foretold responses that it had not learned from. What is expected is what the
// belief's own functions, with noise, would have made of the same inputs: of a calibrated belief the two differ by
// chance alone.
type Calibration struct {
	Responses int
	// PIT has, for each response, the predicted probability of a smaller one: uniform on (0, 1) for a calibrated belief
	// (Dawid 1984). Of a response that has a probability, such as 0 or 1, it is spread evenly over that (Smith 1985).
	PIT []float64
	// Marginal is the mean logarithm of the predicted density of a response, in nats. Joint is what that of two responses
	// in a row has more than those of the two, the mean over all pairs: positive where the functions know how responses
	// go together, which exploration lives on (Osband et al. 2023). Of one response it is 0.
	Marginal, ExpectedMarginal float64
	Joint, ExpectedJoint       float64
}

// foretellers is how many functions Calibrate draws.
const foretellers = 128

// Calibrate tells how well the snapshot foretells responses y at inputs x, as [Agent.Inputs] has them. Responses must
// be such that it had not learned from. It draws 128 functions; their programs are as those of Sample. The error says
// what is wrong with the inputs, or that the loss has no distribution of responses: see train.Likelihood.
func (s *Snapshot) Calibrate(x [][]float32, y []float32) (Calibration, error) {
	loss := s.agent.config.Learner.Train.Loss
	if loss == nil {
		loss = train.Gaussian{}
	}
	likelihood, ok := loss.(train.Likelihood)
	if !ok {
		return Calibration{}, fmt.Errorf("%T is no train.Likelihood: it does not say what responses are likely", loss)
	}
	if len(y) == 0 || len(x) != len(y) {
		return Calibration{}, fmt.Errorf("there must be as many responses as inputs, and 1 at least; got %d and %d",
			len(y), len(x))
	}
	for i, v := range y {
		if tooLarge(v) {
			return Calibration{}, fmt.Errorf("response %d is %w: %v", i, ErrNotFinite, v)
		}
	}
	means, err := s.Sample(x, foretellers)
	if err != nil {
		return Calibration{}, err
	}
	sd, err := s.agent.noise(s.belief)
	if err != nil {
		return Calibration{}, err
	}
	f := forecast{likelihood, means, sd, rand.New(rand.NewPCG(s.agent.config.Seed, s.samples.Load()))}
	return f.calibration(y), nil
}

// noise is the standard deviation of responses about their mean, in their own units.
func (a *form) noise(belief *snapshot) (float64, error) {
	c := a.config.Learner
	sd := math.Sqrt(c.NoiseVariance)
	if !c.Train.Standardize {
		return sd, nil
	}
	of := map[string]float64{}
	if belief.learned != nil {
		for name, v := range belief.learned.Responses() {
			of[name] = v[0]
		}
	}
	for i, place := range a.read {
		name := a.names[place]
		if belief.state[i] != nil && (name == "response.m2" || name == "response.count") {
			v, err := numbers(belief.state[i].Tensor)
			if err != nil {
				return 0, err
			}
			of[name] = v[0]
		}
	}
	if spread := of["response.m2"] / max(of["response.count"]-1, 1); spread > 0 {
		sd *= math.Sqrt(spread)
	}
	return sd, nil
}

// forecast is what functions foretell: their mean responses, [functions][inputs], and noise.
type forecast struct {
	train.Likelihood
	means [][]float32
	sd    float64
	rand  *rand.Rand
}

func (f forecast) calibration(y []float32) Calibration {
	n, responses := len(f.means), make([]float64, len(y))
	out := Calibration{Responses: len(y), PIT: make([]float64, len(y))}
	for i, v := range y {
		responses[i] = float64(v)
		u := f.rand.Float64()
		for _, mean := range f.means {
			less, equal := f.Below(responses[i], float64(mean[i]), f.sd)
			out.PIT[i] += (less + u*equal) / float64(n)
		}
	}
	out.Marginal, out.Joint = f.densities(responses, -1)
	for k, mean := range f.means { // what function k would have made of these inputs, foretold by the others
		for i := range responses {
			responses[i] = f.Draw(f.rand.Float64(), float64(mean[i]), f.sd)
		}
		marginal, joint := f.densities(responses, k)
		out.ExpectedMarginal += marginal / float64(n)
		out.ExpectedJoint += joint / float64(n)
	}
	return out
}

// densities are Marginal and Joint of responses by the functions but one; -1 is all.
func (f forecast) densities(y []float64, without int) (marginal, joint float64) {
	var one, last, both []float64
	before := 0.0
	for i := range y {
		one = one[:0]
		for k, mean := range f.means {
			if k != without {
				one = append(one, f.LogDensity(y[i], float64(mean[i]), f.sd))
			}
		}
		now := logMean(one)
		marginal += now / float64(len(y))
		if i > 0 {
			both = append(both[:0], one...)
			floats.Add(both, last)
			joint += (logMean(both) - before - now) / float64(len(y)-1)
		}
		last, before = append(last[:0], one...), now
	}
	return marginal, joint
}

// logMean is the logarithm of the mean of exponentials.
func logMean(x []float64) float64 { return floats.LogSumExp(x) - math.Log(float64(len(x))) }
