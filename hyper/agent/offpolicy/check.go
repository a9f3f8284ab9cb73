package offpolicy

import (
	"errors"
	"fmt"
	"math"
)

// checkSample reports invalid arguments of NewSample.
func checkSample[F ~float32 | ~float64](action int, reward float64, logged, target, predicted []F) error {
	if len(logged) != len(target) {
		return fmt.Errorf("target has %d probabilities and logged %d: want one for each action in both", len(target),
			len(logged))
	}
	if err := checkDecision(action, reward, target, predicted); err != nil {
		return err
	}
	if err := checkProbabilities("logged", logged); err != nil {
		return err
	}
	if !(logged[action] > 0) {
		return fmt.Errorf("logged gives action %d, which was taken, probability 0: log the probabilities that the "+
			"action was drawn from", action)
	}
	for a, q := range logged {
		if q > 0 && !finite(float64(target[a])/float64(q)) {
			return fmt.Errorf("logged probability of action %d is %v, too small to divide by: want 0 where the log never "+
				"takes it", a, q)
		}
	}
	return nil
}

// checkPartial reports invalid arguments of NewPartial.
func checkPartial[F ~float32 | ~float64](action int, reward float64, logged F, target, predicted []F) error {
	if err := checkDecision(action, reward, target, predicted); err != nil {
		return err
	}
	if !(logged > 0 && logged <= 1) || !finite(float64(target[action])/float64(logged)) {
		return fmt.Errorf("logged probability of action %d, which was taken, is %v: want one above 0, up to 1", action,
			logged)
	}
	return nil
}

// checkDecision reports invalid arguments, except the probabilities of the log.
func checkDecision[F ~float32 | ~float64](action int, reward float64, target, predicted []F) error {
	switch k := len(target); {
	case k == 0:
		return errors.New("target is empty: want the probability of each action")
	case predicted != nil && len(predicted) != k:
		return fmt.Errorf("predicted has %d rewards for %d actions: want one for each, or nil without a reward model",
			len(predicted), k)
	case action < 0 || action >= k:
		return fmt.Errorf("action is %d of %d actions: want one from 0 to %d", action, k, k-1)
	case !finite(reward):
		return fmt.Errorf("reward is %v: want a finite number; leave out decisions whose reward is not known", reward)
	}
	for a, r := range predicted {
		if !finite(float64(r)) {
			return fmt.Errorf("predicted reward of action %d is %v: want a finite number", a, r)
		}
	}
	return checkProbabilities("target", target)
}

// roundings is the largest difference between 1 and the sum of probabilities.
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
		return fmt.Errorf("%s probabilities sum to %v: want the probabilities of all actions, which sum to 1", name, sum)
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
