package offpolicy

import (
	"math/rand/v2"

	"github.com/janpfeifer/must"
)

// A world is a contextual bandit with known means, a policy that logs and one to evaluate, which takes the action that
// is best.
type world struct {
	contexts int
	logged   [][]float64 // by context and action
	target   [][]float64
	means    [][]float64 // of rewards
	model    [][]float64 // predictions
	noise    func(r *rand.Rand, mean float64) float64
	samples  [][]Sample // of each context and action, which lack their rewards
}

const arms = 10

// wrong is the share of contexts in which the logging policy prefers an action that is not the best.
func newWorld(floor, wrong, low, high float64, noise func(*rand.Rand, float64) float64) *world {
	r := rand.New(rand.NewPCG(11, 5))
	w := &world{contexts: 100, noise: noise}
	for c := range w.contexts {
		mean, model, target, logged := make([]float64, arms), make([]float64, arms), make([]float64, arms), make([]float64, arms)
		best := 0
		for a := range mean {
			mean[a] = low + (high-low)*r.Float64()
			model[a] = mean[a] * (1 + 0.2*r.NormFloat64())
			if mean[a] > mean[best] {
				best = a
			}
			logged[a] = floor / arms
		}
		target[best] = 1
		greedy := best
		if float64(c) < wrong*float64(w.contexts) {
			greedy = (best + 1 + r.IntN(arms-1)) % arms
		}
		logged[greedy] += 1 - floor
		w.means, w.model, w.target, w.logged = append(w.means, mean), append(w.model, model), append(w.target, target), append(w.logged, logged)
		var of []Sample
		for a := range mean {
			of = append(of, must.M1(NewSample(a, 0, logged, target, model)))
		}
		w.samples = append(w.samples, of)
	}
	return w
}

// value is the mean of what an estimator estimates: the mean reward under the target, but for what the model is left.
func (w *world) value(e Estimator) (v float64) {
	for c := range w.contexts {
		for a, p := range w.target[c] {
			cut := w.logged[c][a] * e.cut(p/w.logged[c][a])
			base := 0.0
			switch e.(type) {
			case DoublyRobust, Switch:
				base = w.model[c][a]
			}
			v += (p*base + cut*(w.means[c][a]-base)) / float64(w.contexts)
		}
	}
	return v
}

func (w *world) log(r *rand.Rand, samples []Sample) {
	for i := range samples {
		c, u, a := r.IntN(w.contexts), r.Float64(), 0
		for ; a < arms-1; a++ {
			if u -= w.logged[c][a]; u < 0 {
				break
			}
		}
		samples[i] = w.samples[c][a]
		samples[i].reward = w.noise(r, w.means[c][a])
	}
}

func bernoulli(r *rand.Rand, mean float64) float64 {
	if r.Float64() < mean {
		return 1
	}
	return 0
}

func gaussian(r *rand.Rand, mean float64) float64 { return mean + r.NormFloat64() }
