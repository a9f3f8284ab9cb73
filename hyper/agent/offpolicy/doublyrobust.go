package offpolicy

import "fmt"

// DoublyRobust corrects a reward model by the rewards of the log (Dudik, Langford and Li 2011). It is the mean of q(pi)
// + w (r - q), where q(pi) is the model's mean reward under the target and q its prediction for the action that was
// taken. It has no bias, however wrong the model is, if the log may take every action that the target takes. Its
// variance is small if the model is accurate. The model must not have been fitted to the decisions that it is used on:
// fit it to other data, or fit it to one half of the log and use it on the other half.
type DoublyRobust struct{}

func (DoublyRobust) String() string { return "doubly-robust" }

func (DoublyRobust) validate() error { return nil }

func (DoublyRobust) cut(w float64) float64 { return w }

func (DoublyRobust) parts(samples []Sample, base, residual []float64) error {
	for i := range samples {
		if !samples[i].modelled {
			return fmt.Errorf("decision %d has %w", i, ErrNoModel)
		}
		base[i], residual[i] = samples[i].expected, samples[i].reward-samples[i].predicted
	}
	return nil
}
