package offpolicy

import (
	"errors"
	"fmt"
	"math"
)

// Sample is one logged decision, with what the target policy would have done in its place. [NewSample] makes it; the
// zero value is none. It holds 16 bytes for each action, and is safe for concurrent use.
type Sample struct {
	action      int
	reward      float64
	logged      []float64 // probability of each action in the log
	weights     []float64 // the target's probability of each action over the log's; 0 where the log never takes it
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
	s := Sample{action: action, reward: reward, modelled: predicted != nil,
		logged: make([]float64, len(logged)), weights: make([]float64, len(logged))}
	for a, q := range logged {
		p := float64(target[a])
		s.logged[a] = float64(q)
		if q > 0 {
			s.weights[a] = p / s.logged[a]
		} else {
			s.unsupported += p
		}
		if s.modelled {
			s.expected += p * float64(predicted[a])
		}
	}
	if s.modelled {
		s.predicted = float64(predicted[action])
	}
	return s, nil
}

func checkSample[F ~float32 | ~float64](action int, reward float64, logged, target, predicted []F) error {
	switch k := len(logged); {
	case k == 0:
		return errors.New("logged is empty: want the probability of each action")
	case len(target) != k:
		return fmt.Errorf("target has %d probabilities and logged %d: want one for each action in both", len(target), k)
	case predicted != nil && len(predicted) != k:
		return fmt.Errorf("predicted has %d rewards for %d actions: want one for each, or nil without a reward model",
			len(predicted), k)
	case action < 0 || action >= k:
		return fmt.Errorf("action is %d of %d actions: want one from 0 to %d", action, k, k-1)
	case !finite(reward):
		return fmt.Errorf("reward is %v: want a finite number; leave out decisions whose reward is not known", reward)
	}
	if err := errors.Join(checkProbabilities("logged", logged), checkProbabilities("target", target)); err != nil {
		return err
	}
	if !(logged[action] > 0) {
		return fmt.Errorf("logged gives action %d, which was taken, probability 0: log the probabilities that the "+
			"action was drawn from", action)
	}
	for a, r := range predicted {
		if !finite(float64(r)) {
			return fmt.Errorf("predicted reward of action %d is %v: want a finite number", a, r)
		}
	}
	for a, q := range logged {
		if q > 0 && math.IsInf(float64(target[a])/float64(q), 0) {
			return fmt.Errorf("logged probability of action %d is %v, too small to divide by: want 0 where the log never "+
				"takes it", a, q)
		}
	}
	return nil
}

// roundings is how far from 1 probabilities may sum.
const roundings = 1e-4

func checkProbabilities[F ~float32 | ~float64](name string, probabilities []F) error {
	sum := 0.0
	for a, p := range probabilities {
		if !(p >= 0 && p <= 1+roundings) {
			return fmt.Errorf("%s probability of action %d is %v: want one from 0 to 1", name, a, p)
		}
		sum += float64(p)
	}
	if math.Abs(sum-1) > roundings {
		return fmt.Errorf("%s probabilities sum to %v: want those of all actions, which sum to 1", name, sum)
	}
	return nil
}

// weight is the importance weight of the action that was taken.
func (s *Sample) weight() float64 { return s.weights[s.action] }

// cut returns the powers of the cut weights of all actions above 1, with their probabilities, and the probability of the
// target that is cut off.
func (s *Sample) cut(e Estimator) (above1 powers, left float64) {
	for a, w := range s.weights {
		cut := e.cut(w)
		above1.add(s.logged[a], cut-1)
		left += s.logged[a] * (w - cut)
	}
	return above1, left
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
