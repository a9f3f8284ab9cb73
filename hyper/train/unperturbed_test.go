package train

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// Training without perturbation vectors equals training with perturbations times 0, whatever the rate is, and the
// buffer holds no perturbation vectors. If the routes to the gradient are the same, every bit is the same.
func TestUnperturbed(t *testing.T) {
	for i, m := range append(linearModels(), otherModels()...) {
		if i%4 != 0 && testing.Short() {
			continue
		}
		r := rand.New(rand.NewPCG(8, uint64(i)))
		actions := randomArray(r, 1, problemRuns, 3, featuresOf(m.Base))
		c := Config{Steps: 2, Batch: 6, Indices: 4, Capacity: 5}
		routes, nu := map[bool]string{}, map[bool][]array{}
		for _, none := range []bool{false, true} {
			c.Unperturbed = none
			tr, data := Trainer{m.Model, c}, rand.New(rand.NewPCG(9, 9))
			perturbation := []float32{0, 0}
			if none {
				perturbation = []float32{1, 2}
			}
			rates := [4][]float32{{0.01, 0.02}, {1.25, 1.75}, {0.75, 0.5}, perturbation}
			mc := newMachine(t, backend.Go, tr, []uint64{21, 22}, rates, &actions)
			for period := range 5 {
				mc.add([]int32{data.Int32N(3), data.Int32N(3)}, []float32{float32(data.NormFloat64()), 1})
				mc.train(period)
			}
			routes[none], nu[none] = tr.Route().Name, mc.all("nu")
			if slices.Contains(mc.names, "replay.a") == none {
				t.Errorf("%s: unperturbed is %v, but the state has %q", m.name, none, mc.names)
			}
		}
		tolerance := 0.0
		if routes[false] != routes[true] {
			tolerance = 4 * single
		}
		for run := range problemRuns {
			near(t, m.name+", "+routes[true], ofRun(nu[true], run), ofRun(nu[false], run), tolerance)
		}
	}
}

// Validate returns an error if a configuration needs perturbation vectors and has none.
func TestUnperturbedRefuses(t *testing.T) {
	c := Config{Steps: 1, Batch: 4, Indices: 2, Capacity: 3, Unperturbed: true}
	exact, bootstrap := c, c
	exact.Integrate, bootstrap.Weights = Exact, Exponential
	for want, c := range map[string]Config{
		"Integrate exact takes sums with perturbations": exact,
		"Weights exponential are made from a^T z":       bootstrap,
	} {
		err := c.Validate(linearInArms())
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Unperturbed") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
