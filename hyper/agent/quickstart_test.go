package agent

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// mean is the mean of theta over z, of one run of a linear hypermodel.
func (a *Agent) mean(t *testing.T) []float64 {
	t.Helper()
	return tensors.MustCopyFlatData[float64](a.now.Load().state[slices.Index(a.names, "nu.0")])
}

// The README's quickstart learns the exact posterior mean: with prior N(0, 1), noise of variance 1/4 and n likes of an item,
// 4 n / (4 n + 1).
func TestQuickstartIsExact(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, name string) {
		layout, items := hyper.PerParameter(3, 10), base.Tabular{Arms: 3}
		bandit := must.M1(New(Config{
			Model: hyper.Model{
				Base:  items,
				Hyper: hyper.Linear{Layout: layout, P: index.PerArm{Arms: 3, M: 10}},
				Prior: &hyper.Prior{Base: items, Layout: layout},
			},
			NoiseVariance: 0.25, Seed: 1, Backend: name,
		}))
		for likes := 1; likes <= 12; likes++ {
			must.M(bandit.Observe([]float32{0}, 1))
			n := 4 * float64(likes)
			if want, got := n/(n+1), bandit.mean(t); math.Abs(got[0]-want) > 1e-15 || got[1] != 0 || got[2] != 0 {
				t.Errorf("after %d likes of item 0 the means are %.5v, want %.5f, 0, 0", likes, got, want)
			}
		}
	})
}
