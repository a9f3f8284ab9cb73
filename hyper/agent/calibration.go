package agent

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/hypermodels/hypermodels/hyper/train"
)

// Calibration says how well a belief predicted responses that it had not learned from. The Expected values are what the
// belief would score if its own functions, with noise, had produced the responses at the same inputs. For a calibrated
// belief, the actual and the expected values differ only by chance.
type Calibration struct {
	Responses int
	// PIT has, for each response, the predicted probability of a smaller response: uniform on (0, 1) for a calibrated
	// belief (Dawid 1984). If a response itself has a positive probability, such as 0 or 1, its PIT is drawn uniformly
	// from the interval of that probability (Smith 1985).
	PIT []float64
	// Marginal is the mean logarithm of the predicted density of a response, in nats. Joint is the mean, over all pairs
	// of consecutive responses, of the logarithm of their joint density minus the sum of their marginal logarithms. It
	// is positive if the functions predict how responses vary together, which exploration depends on (Osband et al.
	// 2023). With one response it is 0.
	Marginal, ExpectedMarginal float64
	Joint, ExpectedJoint       float64
}

// calibrationFunctions is the number of functions that Calibrate draws.
const calibrationFunctions = 128

// Calibrate measures how well the snapshot predicts responses y at inputs x, [responses][features] as [Agent.Inputs]
// returns them. The snapshot must not have learned from these responses. Calibrate draws 128 functions, with programs
// like the programs of Sample. The error says what is wrong with the inputs, or that the loss has no distribution of
// responses: see train.Likelihood.
func (s *Snapshot) Calibrate(x [][]float32, y []float32) (Calibration, error) {
	loss := cmp.Or[train.Loss](s.agent.config.Learner.Train.Loss, train.Gaussian{})
	likelihood, ok := loss.(train.Likelihood)
	if !ok {
		return Calibration{}, fmt.Errorf("%T is not a train.Likelihood: it has no distribution of responses", loss)
	}
	if len(y) == 0 || len(x) != len(y) {
		return Calibration{}, fmt.Errorf("the number of responses must equal the number of inputs, and be at least 1; got %d and %d",
			len(y), len(x))
	}
	for i, v := range y {
		if tooLarge(v) {
			return Calibration{}, fmt.Errorf("response %d is %w: %v", i, ErrNotFinite, v)
		}
	}
	means, err := s.Sample(x, calibrationFunctions)
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

// noise returns the standard deviation of responses about their mean, in the units of the responses.
func (a *form) noise(belief *snapshot) (float64, error) {
	responses, err := a.responses(belief)
	if err != nil {
		return 0, err
	}
	return a.trainer().HostNoise(a.config.Learner.NoiseVariance, responses), nil
}

// forecast is the predictive distribution of responses: the mean responses of functions, [functions][inputs], and
// noise.
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
	for k, mean := range f.means { // responses drawn from function k, predicted by the other functions
		for i := range responses {
			responses[i] = f.Draw(f.rand.Float64(), float64(mean[i]), f.sd)
		}
		marginal, joint := f.densities(responses, k)
		out.ExpectedMarginal += marginal / float64(n)
		out.ExpectedJoint += joint / float64(n)
	}
	return out
}

// densities returns Marginal and Joint of responses, predicted by all functions except the function without; -1
// excludes none.
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

// logMean returns the logarithm of the mean of exp(x).
func logMean(x []float64) float64 { return floats.LogSumExp(x) - math.Log(float64(len(x))) }
