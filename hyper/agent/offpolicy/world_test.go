package offpolicy

import (
	"math/rand/v2"

	"github.com/janpfeifer/must"
)

const (
	contexts = 100
	arms     = 10
)

// A world is a contextual bandit with known mean rewards from 0.1 to 0.7. It has a logging policy, a target policy that
// takes the best action, and a reward model with an error of one fifth.
type world struct {
	logged, target, means, model [contexts][arms]float64
	reward                       func(r *rand.Rand, mean float64) float64
	samples                      [contexts][arms]Sample // which lack their rewards
}

// newWorld makes a logging policy with a floor of uniform actions. It prefers the best action in half of the contexts,
// and another action in the others.
func newWorld(floor float64, reward func(*rand.Rand, float64) float64) *world {
	r, w := rand.New(rand.NewPCG(11, 5)), &world{reward: reward}
	for c := range contexts {
		best := 0
		for a := range arms {
			w.means[c][a] = 0.1 + 0.6*r.Float64()
			w.model[c][a] = w.means[c][a] * (1 + 0.2*r.NormFloat64())
			w.logged[c][a] = floor / arms
			if w.means[c][a] > w.means[c][best] {
				best = a
			}
		}
		preferred := best
		if c%2 == 0 {
			preferred = (best + 1 + r.IntN(arms-1)) % arms
		}
		w.target[c][best] = 1
		w.logged[c][preferred] += 1 - floor
		for a := range arms {
			w.samples[c][a] = must.M1(NewSample(a, 0, w.logged[c][:], w.target[c][:], w.model[c][:]))
		}
	}
	return w
}

// partial returns the world whose log only has the probability of the action that was taken.
func (w world) partial() *world {
	for c := range contexts {
		for a, q := range w.logged[c] {
			w.samples[c][a] = must.M1(NewPartial(a, 0, q, w.target[c][:], w.model[c][:]))
		}
	}
	return &w
}

// value returns the mean reward of the target.
func (w *world) value() (v float64) {
	for c := range contexts {
		for a, p := range w.target[c] {
			v += p * w.means[c][a] / contexts
		}
	}
	return v
}

// estimand returns the mean of an estimator. It differs from value because Switch leaves actions to the model, and
// because IPS.Clip cuts weights.
func (w *world) estimand(e Estimator) (v float64) {
	for c := range contexts {
		for a, p := range w.target[c] {
			q, base := w.logged[c][a], 0.0
			if _, ok := e.(Switch); ok {
				base = w.model[c][a]
			}
			v += (p*base + q*e.cut(p/q)*(w.means[c][a]-base)) / contexts
		}
	}
	return v
}

// log draws n decisions.
func (w *world) log(r *rand.Rand, n int) []Sample {
	samples := make([]Sample, n)
	for i := range samples {
		c, u, a := r.IntN(contexts), r.Float64(), 0
		for ; a < arms-1; a++ {
			if u -= w.logged[c][a]; u < 0 {
				break
			}
		}
		samples[i] = w.samples[c][a]
		samples[i].reward = w.reward(r, w.means[c][a])
	}
	return samples
}

func bernoulli(r *rand.Rand, mean float64) float64 {
	if r.Float64() < mean {
		return 1
	}
	return 0
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(3, 4)) }

func gaussian(r *rand.Rand, mean float64) float64 { return mean + r.NormFloat64() }
