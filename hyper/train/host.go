package train

import (
	"cmp"
	"math"

	"github.com/hypermodels/hypermodels/hyper"
)

// HostParams does in plain Go what Params does: it returns the belief's parameters. p holds the parameters nu of a
// state and is not changed; responses holds the entries of the state for which Entry.Responses holds.
func (t Trainer) HostParams(p hyper.HostParams, responses map[Entry][]float64) hyper.HostParams {
	y, one := responses["response.y"], responses["response.one"]
	if !t.Standardize || t.Integrate != Exact || y == nil {
		return p
	}
	mean, sd := hostResponses(responses)
	theta, nu := make([]float32, len(y)), append([][]float32(nil), p.Nu...)
	for i := range theta {
		theta[i] = float32((y[i] - mean*one[i]) / sd)
	}
	nu[0] = append([]float32(nil), nu[0]...)
	for i := range nu[0] { // nu[0] is mu, or all particles
		nu[0][i] += theta[i%len(theta)]
	}
	return hyper.HostParams{Nu: nu, Fixed: p.Fixed, Compiled: p.Compiled}
}

// HostResponses turns predictions f into mean responses, in place, as Responses does. It returns false if it does not
// know the loss, and then leaves f unchanged.
func (t Trainer) HostResponses(responses map[Entry][]float64, f []float32) bool {
	switch t.loss().(type) {
	case Gaussian:
	case LogisticLoss:
		for i, v := range f {
			f[i] = float32(1 / (1 + math.Exp(-float64(v))))
		}
	default:
		return false
	}
	if t.Standardize {
		mean, sd := hostResponses(responses)
		for i, v := range f {
			f[i] = float32(float64(v)*sd + mean)
		}
	}
	return true
}

// HostNoise returns the standard deviation of responses about their mean, in the units of the responses. noiseVar is
// sigma_w^2 in the loss.
func (t Trainer) HostNoise(noiseVar float64, responses map[Entry][]float64) float64 {
	sd := 1.0
	if t.Standardize {
		_, sd = hostResponses(responses)
	}
	return math.Sqrt(noiseVar) * sd
}

// hostResponses does in plain Go what State.responses does.
func hostResponses(state map[Entry][]float64) (mean, sd float64) {
	n := state["response.count"][0]
	sd = math.Sqrt(state["response.m2"][0] / max(n-1, min(n, 1), tiny))
	return state["response.mean"][0], cmp.Or(sd, 1)
}
