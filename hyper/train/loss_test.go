package train

import (
	"fmt"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
)

// The loss and its gradient are those of the paper's formula in plain Go and double precision, for every structure of
// model. |D|/|D~| is 17/5. The tolerance is some hundred units of single precision's 6e-8, for sums of some ten terms;
// central differences are good to 1e-9.
func TestLossAndGradient(t *testing.T) {
	for i, m := range append(linearModels(), otherModels()...) {
		p := newProblem(t, m.Model, 5, 17)
		for _, name := range sometimesXLA(i) {
			t.Run(m.name+"/"+name, func(t *testing.T) {
				const indices = 6
				out := eval(t, name, func(in []*Node) []*Node {
					g := p.nodes(in)
					z := p.sample(in[0].Graph(), indices)
					loss := Loss(m.Model, g.Params, g.data, z, g.size, g.Rates)
					grads := SampledGradient(m.Model, g.Params, g.data, z, g.size, g.Rates)
					return append([]*Node{loss, z.Dense()}, grads...)
				}, p.args()...)
				for r := range problemRuns {
					z, nu := out[1].sub(r), make([]array, len(p.nu))
					for i := range nu {
						nu[i] = p.nu[i].sub(r)
					}
					near(t, fmt.Sprintf("loss of run %d", r), out[0].v[r:r+1], []float64{referenceLoss(p, r, nu, z)}, 5e-6)
					near(t, fmt.Sprintf("gradient of run %d", r), ofRun(out[2:], r), referenceGradient(p, r, z), 5e-6)
				}
			})
		}
	}
}
