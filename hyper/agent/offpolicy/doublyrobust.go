package offpolicy

import "fmt"

// DoublyRobust corrects a reward model by the rewards of the log (Dudik, Langford and Li 2011): the mean of q(pi) +
// w (r - q), with the model's mean reward q(pi) under the target and q of the action that was taken. It has no bias,
// however wrong the model is, where the log may take all that the target takes, and a small variance where the model is
// near. The model must not have been fitted to the decisions that it is used on: fit it to other data, or to one half
// of the log for the other half.
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

func (DoublyRobust) terms(b Bernstein) (from, to float64) { return b.corrected(b.most(0)) }

func (DoublyRobust) rest(b Bernstein) (from, to float64) { return b.Low - b.High, b.High - b.Low }
