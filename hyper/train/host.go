package train

import (
	"math"

	"github.com/hypermodels/hypermodels/hyper"
)

// HostParams is Params in plain Go: what is believed for the parameters nu of a state, p, which is not changed, and for
// its entries that begin with "response.".
func (t Trainer) HostParams(p hyper.HostParams, responses map[string][]float64) hyper.HostParams {
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
	for i := range nu[0] { // of each particle, or of mu
		nu[0][i] += theta[i%len(theta)]
	}
	return hyper.HostParams{Nu: nu, Fixed: p.Fixed}
}

// hostResponses is what State.responses returns.
func hostResponses(state map[string][]float64) (mean, sd float64) {
	sd = math.Sqrt(state["response.m2"][0] / max(state["response.count"][0]-1, 1))
	if sd == 0 {
		sd = 1
	}
	return state["response.mean"][0], sd
}
