package train

import (
	"slices"
	"testing"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
)

// exactTolerance is a relative one: arithmetic in float64 on numbers of float32.
const exactTolerance = 1e-12

// exactModels are those of linearModels that have an exact minimiser.
func exactModels(t *testing.T) []namedModel {
	var out []namedModel
	for _, m := range linearModels() {
		if ExactFor(m.Model) == nil {
			out = append(out, m)
		}
	}
	if len(out) != 19 {
		t.Errorf("%d models have an exact minimiser", len(out))
	}
	line, net := base.Linear{Features: 3}, base.MLP{Layers: []int{3, 2, 1}, Activation: base.ActivationTanh}
	return append(out, namedModel{"line, ensemble, MLP prior", withPrior(ensembleOf(line, 4, none), net, hyper.Dense(11, 4))})
}

// The state is the oracle's minimiser of the data so far, to double precision: for every model that is linear in theta, two runs of different
// rates, and on both backends (XLA has one model of each kind of state: it takes seconds to compile one). Training changes nothing.
func TestExactIsTheOracle(t *testing.T) {
	onXLA := []string{"arms, per arm", "arms, ensemble", "line, dense", "line, uneven blocks, dense prior", "line, one-hot index, linear"}
	for _, m := range exactModels(t) {
		tolerance := exactTolerance
		if !m.LinearInTheta() {
			tolerance = single // of the prior's predictions
		}
		for _, name := range backends() {
			if name != backend.Go && !slices.Contains(onXLA, m.name) {
				continue
			}
			t.Run(m.name+"/"+name, func(t *testing.T) {
				run := trainOn(t, name, Trainer{m.Model, Config{Integrate: Exact}}, 12, 1)
				run.compare(t, tolerance)
				if name == backend.Go {
					run.train(0)
					run.compare(t, tolerance)
					trainOn(t, name, Trainer{m.Model, Config{Integrate: Exact}}, 1, 1).compare(t, tolerance)
				}
			})
		}
	}
}
