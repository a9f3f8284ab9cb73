package train

import (
	"fmt"
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
)

// The loss with Decay equals a computation in plain Go and double precision: the data's part of the loss plus |nu|^2 /
// 2 sigma_p^2 over all of nu, for every nu_0 and hypermodel. The gradient is nu / sigma_p^2 plus the gradient of the
// data's part, by central differences. Tolerances are as in TestLossAndGradient.
func TestDecayLossAndGradient(t *testing.T) {
	for i, m := range otherModels() {
		p := newTrial(t, m.Model, 5, 17)
		data := p // the data's part: its regularizer has no weight
		data.priorVar = []float64{math.Inf(1), math.Inf(1)}
		for _, name := range sometimesXLA(i) {
			out := eval(t, name, func(in []*Node) []*Node {
				g := p.nodes(in)
				z := p.sample(in[0].Graph(), 6)
				c := Config{Regularize: Decay}
				return append([]*Node{p.loss(c, g, z), z.Dense()}, p.gradient(c, g, z)...)
			}, p.args()...)
			for r := range problemRuns {
				z := out[1].sub(r)
				nu := make([]array, len(p.nu))
				want := referenceGradient(data, r, z)
				for i := range nu {
					nu[i] = p.nu[i].sub(r)
				}
				loss := referenceLoss(data, r, nu, z)
				for i, v := range ofRun(p.nu, r) {
					loss += v * v / (2 * p.priorVar[r])
					want[i] += v / p.priorVar[r]
				}
				what := fmt.Sprintf("%s on %s, run %d", m.name, name, r)
				near(t, "loss of "+what, out[0].v[r:r+1], []float64{loss}, single)
				near(t, "gradient of "+what, ofRun(out[2:], r), want, single)
			}
		}
	}
}
