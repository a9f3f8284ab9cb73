package approx

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// Certificate is the result of Certify: the errors of a network on fresh z. The error at z is the sup norm of
// f_{g_nu(z)} - H(z).
type Certificate struct {
	Measure      string    `json:"measure"`
	Points       int       `json:"points"` // K
	Bound        float64   `json:"bound"`  // B
	Epsilon      float64   `json:"epsilon"`
	Delta        float64   `json:"delta"`
	Reference    Reference `json:"reference"`
	Construction string    `json:"construction"`

	Draws       int     `json:"draws"`  // number of fresh z
	Within      int     `json:"within"` // number of these with an error of at most epsilon
	Probability float64 `json:"probability"`
	LowerBound  float64 `json:"probability_lower_bound"` // exact (Clopper-Pearson), at the confidence
	Confidence  float64 `json:"confidence"`              // for all attempts together
	Certified   bool    `json:"certified"`               // the lower bound is at least 1 - delta
	Reached     float64 `json:"epsilon_reached"`         // 1 - delta quantile of the errors: the epsilon that is reached

	Widths     []int `json:"widths"`    // of f, from input to output
	Parameters int   `json:"n_theta"`   // N_theta
	FromIndex  int   `json:"from_z"`    // components of theta that are components of z
	Constants  int   `json:"constants"` // the others

	Attempts int `json:"attempts"`
	// MassError is the total variation distance between the masses of the cells of Brenier's map and mu.
	MassError float64 `json:"mass_error,omitempty"`
	Seed      uint64  `json:"seed"`
	Backend   string  `json:"backend"`
	Seconds   float64 `json:"seconds"`
}

// String returns the certificate in one line.
func (c Certificate) String() string {
	verdict := "certified"
	if !c.Certified {
		verdict = fmt.Sprintf("not certified; with probability %.3g the error is within %.3g", 1-c.Delta, c.Reached)
	}
	return fmt.Sprintf("P(error <= %.4g) = %.4f, at least %.4f with confidence %.4g (%d fresh z), wanted %.4g: %s",
		c.Epsilon, c.Probability, c.LowerBound, c.Confidence, c.Draws, 1-c.Delta, verdict)
}

// lowerBound returns the exact lower confidence bound (Clopper and Pearson) of a probability, from the number of
// successes in n trials.
func lowerBound(successes, n int, confidence float64) float64 {
	if successes == 0 {
		return 0
	}
	return distuv.Beta{Alpha: float64(successes), Beta: float64(n - successes + 1)}.Quantile(1 - confidence)
}
