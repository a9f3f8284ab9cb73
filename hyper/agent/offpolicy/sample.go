package offpolicy

import "math"

// Sample is one logged decision, with the probabilities of the target policy. [NewSample] and [NewPartial] make it; the
// zero value is not valid. It takes 16 bytes for each action, and is safe for concurrent use.
type Sample struct {
	action      int // index into logged and weights
	reward      float64
	logged      []float64 // probability of each action in the log; {1} if partial
	weights     []float64 // target's probability of each action divided by the log's; 0 if the log never takes it
	partial     bool      // whether only the probability of the action that was taken is known
	unsupported float64   // target's probability of actions that the log never takes
	modelled    bool      // whether there is a reward model
	predicted   float64   // the model's mean reward of the action that was taken
	expected    float64   // the model's mean reward under the target
}

// NewSample returns the decision in which the log took an action, counted from 0, and saw a reward. The three vectors
// have one number for each action: logged has the probabilities with which the log took the actions, target has the
// probabilities with which the target would take them, and predicted has the mean rewards that a reward model predicts
// for them; predicted is nil without a model. The vectors are copied.
//
// The error reports a number that is not finite, vectors of different lengths, probabilities that are negative or do
// not sum to 1 within 0.0001 (single precision suffices), or an action that the log took with probability 0.
func NewSample[F ~float32 | ~float64](action int, reward float64, logged, target, predicted []F) (Sample, error) {
	if err := checkSample(action, reward, logged, target, predicted); err != nil {
		return Sample{}, err
	}
	s := newSample(action, reward, target, predicted)
	s.logged, s.weights = make([]float64, len(logged)), make([]float64, len(logged))
	for a, q := range logged {
		s.logged[a] = float64(q)
		if q > 0 {
			s.weights[a] = float64(target[a]) / s.logged[a]
		} else {
			s.unsupported += float64(target[a])
		}
	}
	return s, nil
}

// NewPartial is [NewSample] for logs that have only logged, the probability of the action that was taken. It is unknown
// which actions such a log never takes, so Evaluate refuses nothing for this reason. The weights that did not occur are
// unknown too, so intervals use only the weights in the log. Log all probabilities if you can.
func NewPartial[F ~float32 | ~float64](action int, reward float64, logged F, target, predicted []F) (Sample, error) {
	if err := checkPartial(action, reward, logged, target, predicted); err != nil {
		return Sample{}, err
	}
	s := newSample(action, reward, target, predicted)
	s.action, s.partial = 0, true
	s.logged, s.weights = []float64{1}, []float64{float64(target[action]) / float64(logged)}
	return s, nil
}

// newSample returns a Sample without the log's probabilities.
func newSample[F ~float32 | ~float64](action int, reward float64, target, predicted []F) Sample {
	s := Sample{action: action, reward: reward, modelled: predicted != nil}
	for a, r := range predicted {
		s.expected += float64(target[a]) * float64(r)
	}
	if s.modelled {
		s.predicted = float64(predicted[action])
	}
	return s
}

// weight returns the importance weight of the action that was taken.
func (s *Sample) weight() float64 { return s.weights[s.action] }

// cut returns the powers of the cut weights of all actions minus 1, weighted by their probabilities, and the target's
// probability that is cut off. For a partial sample it returns unbiased estimates of these from the weight that was
// seen.
func (s *Sample) cut(e Estimator) (above1 powers, left float64) {
	for a, w := range s.weights {
		cut := e.cut(w)
		above1.add(s.logged[a], cut-1)
		left += s.logged[a] * (w - cut)
	}
	if s.partial && !math.IsInf(e.cut(math.Inf(1)), 1) { // e cuts large weights
		left = -above1[0] // this varies less than the part seen above the cut
	}
	return above1, left
}

// sum returns the moments of the cut weight, given its powers above 1. They are exact. For a partial sample, sum
// returns the first two moments as seen in the log, because the uncut weight has mean 1.
func (s *Sample) sum(above1 powers) moments {
	if !s.partial {
		return above1.moments(1, 1)
	}
	x := s.weight() - 1
	return moments{mean: 1 + above1[0] - x, second: x * x}
}
