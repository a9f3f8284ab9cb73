package base

import (
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// An intercept is one more feature with the value 1, in all operations of the model.
func TestIntercept(t *testing.T) {
	const features, columns = 3, 2
	r := rand.New(rand.NewPCG(7, 8))
	x := random(r, runs*inputs*features)
	theta, v, w := random(r, runs*indices*(features+1)), random(r, runs*inputs*columns),
		random(r, runs*(features+1)*columns)
	var more []float32
	for i := range runs * inputs {
		more = append(append(more, x[i*features:(i+1)*features]...), 1)
	}
	with, plain := Linear{Features: features, Intercept: true}, Linear{Features: features + 1}
	if with.Inputs() != features || with.Groups()[0] != features+1 || with.UnitVariance() != plain.UnitVariance() {
		t.Errorf("got %d inputs, groups %v, unit variance %v", with.Inputs(), with.Groups(), with.UnitVariance())
	}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		out := eval(t, name, func(in []*Node) []*Node {
			x, phi, theta, v, w := in[0], in[1], in[2], in[3], in[4]
			return []*Node{
				with.Apply(theta, x), plain.Apply(theta, phi),
				with.Project(x, v), plain.Project(phi, v),
				with.GramMul(with.Gram(x), w), plain.GramMul(plain.Gram(phi), w),
				with.NoData(x.Graph(), runs), plain.NoData(x.Graph(), runs),
			}
		}, tensors.FromFlatDataAndDimensions(x, runs, inputs, features),
			tensors.FromFlatDataAndDimensions(more, runs, inputs, features+1),
			tensors.FromFlatDataAndDimensions(theta, runs, indices, features+1),
			tensors.FromFlatDataAndDimensions(v, runs, inputs, columns),
			tensors.FromFlatDataAndDimensions(w, runs, features+1, columns))
		for i, what := range []string{"Apply", "Project", "GramMul", "no data"} {
			same(t, what, out[2*i], floats(out[2*i+1]))
		}
	})
}
