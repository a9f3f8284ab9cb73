package offpolicy

import "math"

// Sample is one logged decision, with what the target policy would have done in its place. [NewSample] and [NewPartial]
// make it; the zero value is none. It holds 16 bytes for each action, and is safe for concurrent use.
type Sample struct {
	action      int // place in the next two
	reward      float64
	logged      []float64 // probability of each action in the log; of a partial one, 1 for what was seen
	weights     []float64 // the target's probability of each action over the log's; 0 where the log never takes it
	partial     bool      // whether the log's probability is known of the action that was taken alone
	unsupported float64   // probability of the target on actions that the log never takes
	modelled    bool      // whether there is a reward model, of which
	predicted   float64   // is the mean reward of the action that was taken, and
	expected    float64   // that under the target's probabilities
}

// NewSample returns the decision in which the log took an action, counted from 0, and saw a reward. Three vectors, one
// number for each action, say what else was known: the probabilities with which the log took the actions there, those
// with which the target would, and the mean rewards that a reward model predicts for them there, nil without a model.
// The vectors are copied.
//
// The error says what is wrong: a number that is not finite, vectors of different lengths, probabilities that are
// negative or do not sum to 1 within 0.0001 (those of single precision do), an action that the log took with
// probability 0.
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

// NewPartial is [NewSample] for logs that hold the probability of the action that was taken alone: logged. What such a
// log never takes is not known, so that nothing is refused for it, and neither are the weights that it might have had:
// intervals rest on those that were seen. Log all probabilities where you can.
func NewPartial[F ~float32 | ~float64](action int, reward float64, logged F, target, predicted []F) (Sample, error) {
	if err := checkPartial(action, reward, logged, target, predicted); err != nil {
		return Sample{}, err
	}
	s := newSample(action, reward, target, predicted)
	s.action, s.partial = 0, true
	s.logged, s.weights = []float64{1}, []float64{float64(target[action]) / float64(logged)}
	return s, nil
}

// newSample is a Sample without what the log says of actions.
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

// weight is the importance weight of the action that was taken.
func (s *Sample) weight() float64 { return s.weights[s.action] }

// cut returns the powers of the cut weights of all actions above 1, with their probabilities, and the probability of
// the target that is cut off. Of a partial one it is what was seen, whose means these are.
func (s *Sample) cut(e Estimator) (above1 powers, left float64) {
	for a, w := range s.weights {
		cut := e.cut(w)
		above1.add(s.logged[a], cut-1)
		left += s.logged[a] * (w - cut)
	}
	if s.partial && cuts(e, math.Inf(1)) {
		left = -above1[0] // varies less than what was seen above the cut
	}
	return above1, left
}

// sum are the moments of the cut weight, given its powers above 1: exact, or of a partial one the first two that were
// seen, as the whole weight has mean 1.
func (s *Sample) sum(above1 powers) moments {
	if !s.partial {
		return above1.moments(1, 1)
	}
	x := s.weight() - 1
	return moments{mean: 1 + above1[0] - x, second: x * x}
}
