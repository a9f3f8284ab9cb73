package train

import (
	"math"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// Every SGD step, within a period and in the next period, draws its own minibatch and indices. With tiny steps the
// gradient hardly changes. Equal draws would therefore move nu by the same amount again, to the rounding of single
// precision.
func TestStepsDrawAnew(t *testing.T) {
	const step = 1e-3
	for _, m := range []namedModel{trainable()[0], trainable()[2]} {
		for _, integrate := range []Integration{Sampled, Analytic} {
			moves := func(steps, periods int) (moved []float64) {
				run := trainOn(t, backend.Go, Trainer{m.Model, Config{Steps: steps, Batch: 3, Indices: 2, Capacity: 8,
					Integrate: integrate}}, 8, step)
				before := concatenated(run.nu())
				for period := range periods {
					run.train(period)
				}
				return addScaled(concatenated(run.nu()), -1, before)
			}
			once := moves(1, 1)
			for what, twice := range map[string][]float64{"step": moves(2, 1), "period": moves(1, 2)} {
				again := addScaled(twice, -1, once) // the second move
				if d := apart(again, once) / apart(once, make([]float64, len(once))); d < 0.1 {
					t.Errorf("%s, %s: the second %s is nearly equal to the first: relative difference %.3f",
						m.name, integrate, what, d)
				}
			}
		}
	}
}

func apart(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum)
}
