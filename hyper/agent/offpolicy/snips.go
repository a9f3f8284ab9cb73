package offpolicy

// SNIPS is self-normalised IPS (Hajek 1971; Swaminathan and Joachims 2015): v, the sum of w r divided by the sum of w.
// It is a weighted mean of rewards. So it lies between the smallest and the largest reward, and does not depend on the
// zero of the rewards. Its bias decreases in proportion to 1 / number of decisions, and its variance is usually below
// the variance of IPS. Its terms are the terms of the delta method, v + w (r - v) / mean(w), whose mean is v.
type SNIPS struct{}

func (SNIPS) String() string { return "snips" }

func (SNIPS) validate() error { return nil }

func (SNIPS) cut(w float64) float64 { return w }

func (SNIPS) parts(samples []Sample, base, residual []float64) error {
	var weight, rewards float64
	for i := range samples {
		weight += samples[i].weight()
		rewards += samples[i].weight() * samples[i].reward
	}
	if weight == 0 { // the target takes no logged action: all terms are equal
		clear(base)
		clear(residual)
		return nil
	}
	value, mean := rewards/weight, weight/float64(len(samples))
	for i := range samples {
		base[i], residual[i] = value, (samples[i].reward-value)/mean
	}
	return nil
}
