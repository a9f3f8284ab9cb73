package index

import (
	"github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Bernoulli is the distribution of dropout's masks (appendix E): N independent entries, each 1/Keep with probability
// Keep and otherwise 0, so that each has mean 1. It has no A_t for which a^T z would be Gaussian, so learners must
// train without perturbations.
type Bernoulli struct {
	N    int
	Keep float64
}

var _ Distribution = Bernoulli{}

func (d Bernoulli) Dim() int         { return d.N }
func (d Bernoulli) Width() int       { return 1 }
func (d Bernoulli) Moments() Moments { return Moments{Mean: 1, Second: 1 / d.Keep} }

func (d Bernoulli) Sample(s rng.Stream, n int) Set {
	kept := graph.LessThan(s.Uniform(n, d.N), graph.Const(s.Graph(), float32(d.Keep)))
	return Vectors(graph.MulScalar(graph.ConvertDType(kept, dtypes.Float32), 1/d.Keep))
}

// Perturbation returns zeros: Bernoulli has no perturbations.
func (d Bernoulli) Perturbation(s rng.Stream, n int) *graph.Node {
	return graph.BroadcastToDims(graph.Const(s.Graph(), float32(0)), s.Runs(), n, 1)
}

// Dot returns zeros.
func (d Bernoulli) Dot(a *graph.Node, z Set, _ *graph.Node) *graph.Node {
	runs, inputs := a.Shape().Dim(0), a.Shape().Dim(1)
	return graph.BroadcastToDims(graph.Reshape(graph.Const(a.Graph(), float32(0)), 1, 1, 1), runs, z.Len(), inputs)
}
