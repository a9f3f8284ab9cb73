package offpolicy

import "fmt"

// Estimate is the mean reward that a target policy would have had on the decisions of a log, with an interval.
type Estimate struct {
	Estimator string  `json:"estimator"`
	Value     float64 `json:"value"`
	StdErr    float64 `json:"standard_error"`
	Lower     float64 `json:"lower"` // of the interval
	Upper     float64 `json:"upper"`
	Level     float64 `json:"level"` // of the interval

	Decisions int `json:"decisions"`
	// Freedom are the degrees of freedom of StdErr, at most Decisions - 1: what an interval needs. They are 2 n /
	// (kurtosis - 1) for n terms (Satterthwaite 1946), with exact moments of the weights.
	Freedom float64 `json:"freedom"`
	// EffectiveSize is how many decisions of equal weight have a mean of the same variance: (sum w)^2 / sum w^2 (Kish
	// 1965), of the weights that were seen. It may be large where the few weights that matter were not seen.
	EffectiveSize float64 `json:"effective_size"`

	// Weights are as the estimator cuts them. Their mean should be near 1 - Blind.
	MeanWeight    float64 `json:"mean_weight"`
	LargestWeight float64 `json:"largest_weight"`
	LargestShare  float64 `json:"largest_share"` // of the largest weight in the sum of all

	// Unsupported is the target's mean probability of actions that the log never takes. Blind is that of all that the
	// estimator does not learn from the log: these, what IPS.Clip cuts off, and what Switch leaves to the model. The
	// bias is at most Blind times the largest error there: of the model, or of rewards taken to be 0.
	Unsupported float64 `json:"unsupported"`
	Blind       float64 `json:"blind"`
}

// String is the value with its interval.
func (e Estimate) String() string {
	return fmt.Sprintf("%.4g [%.4g, %.4g]", e.Value, e.Lower, e.Upper)
}
