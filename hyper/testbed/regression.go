package testbed

import (
	"context"
	"maps"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"gonum.org/v1/gonum/mat"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// responseIndices is the number of functions of an agent that predict in regression sweeps, as in the testbed.
const responseIndices = 100

// deviationRidge is added to the standard deviations of the posterior and of an agent's functions, as in the testbed. A
// single network would otherwise have a standard deviation of 0.
const deviationRidge = 1e-3

// realize draws the truths of regression problems. Agents learn from "data.*" and are tested on "test.*".
func (t *trial) realize(ctx context.Context, problems []Problem) (named[*tensors.Tensor], error) {
	columns := map[string][]float32{}
	put := func(name string, x []float64) {
		for _, v := range x {
			columns[name] = append(columns[name], float32(v))
		}
	}
	for _, p := range problems {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := rng.NewHost(p.Seed).Named("testbed")
		r, err := p.processTruth().Draw(s, p.Data, t.tests[0].Batches)
		if err != nil {
			return nil, err
		}
		put("data.x", r.X.RawMatrix().Data)
		put("data.y", r.Y)
		if t.kind == Functions {
			put("test.x", r.Test.RawMatrix().Data)
			put("test.mean", r.Mean)
			put("test.sd", r.deviations())
			continue
		}
		x, f, y, err := r.responses(s.Named("tests"), p.Noise)
		if err != nil {
			return nil, err
		}
		put("test.x", x)
		put("test.truth", f)
		put("test.y", y)
	}
	out := named[*tensors.Tensor]{}
	for name, x := range columns {
		shape := []int{len(problems), len(x) / len(problems)}
		if name == "data.x" || name == "test.x" {
			shape = []int{len(problems), len(x) / len(problems) / t.inputs, t.inputs}
		}
		out[name] = tensors.FromFlatDataAndDimensions(x, shape...)
	}
	return out, nil
}

// deviations returns the standard deviations of f at the test inputs.
func (r drawnTruth) deviations() []float64 {
	sd := make([]float64, len(r.Mean))
	for i := range sd {
		sd[i] = math.Sqrt(r.Cov.At(i, i))
	}
	return sd
}

// responses draws f at the test inputs, and one response more than there are test inputs, as in the testbed. The inputs
// of the responses are drawn from the test inputs with replacement. It returns the inputs x row by row, f there, and
// the responses y.
func (r drawnTruth) responses(s rng.Host, noise float64) (x, f, y []float64, err error) {
	truth, err := r.Sample(s.Named("f"))
	if err != nil {
		return nil, nil, nil, err
	}
	which := make([]int32, len(truth)+1)
	s.Named("which").Intn(len(truth), which)
	off := normals(s.Named("y"), len(which), 1)
	for i, at := range which {
		x = append(x, mat.Row(nil, int(at), r.Test)...)
		f = append(f, truth[at])
		y = append(y, truth[at]+noise*off.At(i, 0))
	}
	return x, f, y, nil
}

// responseScorer scores [Responses]: by the log-likelihood of one response.
type responseScorer struct{}

func (responseScorer) draw(e *exam, in named[*Node]) named[*Node] {
	y := in["test.y"]
	out := named[*Node]{"x": in["test.x"], "truth": in["test.truth"], "y": y, noiseName: in[noiseName]}
	maps.Copy(out, newMeanLikelihood(y.Graph(), y.Shape().Dim(0), y.Shape().Dim(1)).nodes())
	return out
}

// gaussian returns log N(y; f, sigma^2) for functions f [runs, indices, responses], without the term that is equal for
// all functions.
func gaussian(in named[*Node], f *Node) *Node {
	return MulScalar(Square(Div(Sub(InsertAxes(in["y"], 1), f), InsertAxes(in[noiseName], -1, -1))), -0.5)
}

func (responseScorer) add(in named[*Node], f, weights *Node) named[*Node] {
	return mixture(in).Accumulate(gaussian(in, f), weights).nodes()
}

func (responseScorer) cost(in named[*Node]) *Node {
	return Sub(Squeeze(gaussian(in, InsertAxes(in["truth"], 1)), 1), mixture(in).Mean())
}

// functionScorer scores [Functions]: by the divergence of the posterior from a Gaussian with the moments of the agent's
// functions.
type functionScorer struct{}

func (functionScorer) draw(e *exam, in named[*Node]) named[*Node] {
	mean := in["test.mean"]
	out := named[*Node]{"x": in["test.x"], "mean": mean, "sd": in["test.sd"]}
	zero := ZerosLike(mean)
	weight := Zeros(mean.Graph(), shapes.Make(dtypes.Float32, mean.Shape().Dim(0)))
	maps.Copy(out, moments{mean: zero, squares: zero, weight: weight}.nodes())
	return out
}

func (functionScorer) add(in named[*Node], f, weights *Node) named[*Node] {
	return momentsOf(in).accumulate(f, weights).nodes()
}

func (functionScorer) cost(in named[*Node]) *Node {
	m := momentsOf(in)
	sd := Sqrt(Div(m.squares, InsertAxes(m.weight, -1)))
	return gaussianDivergence(in["mean"], AddScalar(in["sd"], deviationRidge), m.mean, AddScalar(sd, deviationRidge))
}

// gaussianDivergence returns the Kullback-Leibler divergence of N(mean1, sd1^2) from N(mean2, sd2^2).
func gaussianDivergence(mean1, sd1, mean2, sd2 *Node) *Node {
	miss := Div(Add(Square(sd1), Square(Sub(mean1, mean2))), MulScalar(Square(sd2), 2))
	return AddScalar(Add(Log(Div(sd2, sd1)), miss), -0.5)
}

// moments holds the moments of functions at test inputs. They do not depend on how functions are cut into chunks: see
// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979).
type moments struct {
	mean, squares *Node // the mean, and the sum of squared distances from it; [runs, inputs] each
	weight        *Node // the sum of the functions' weights, [runs]
}

// nodes returns the moments by name. momentsOf is its inverse.
func (m moments) nodes() named[*Node] {
	return named[*Node]{"moments.mean": m.mean, "moments.squares": m.squares, "moments.weight": m.weight}
}

func momentsOf(in named[*Node]) moments {
	return moments{mean: in["moments.mean"], squares: in["moments.squares"], weight: in["moments.weight"]}
}

// accumulate adds functions f [runs, indices, inputs], with weights [runs, indices] as in meanLikelihood.Accumulate.
func (m moments) accumulate(f, weights *Node) moments {
	if weights == nil {
		weights = Ones(f.Graph(), shapes.Make(f.DType(), f.Shape().Dim(0), f.Shape().Dim(1)))
	}
	w := BroadcastToShape(InsertAxes(weights, -1), f.Shape())
	f = Where(GreaterThan(w, ZerosLike(w)), f, ZerosLike(f)) // a function of weight 0 need not be finite
	n := ReduceSum(weights, 1)
	total := Add(m.weight, n)
	least := func(n *Node) *Node { return InsertAxes(MaxScalar(n, 1), -1) } // weights are whole; all may be 0
	mean := Div(ReduceSum(Mul(w, f), 1), least(n))
	squares := ReduceSum(Mul(w, Square(Sub(f, InsertAxes(mean, 1)))), 1)
	off, share := Sub(mean, m.mean), Div(InsertAxes(n, -1), least(total))
	squares = Add(squares, Mul(Square(off), Mul(share, InsertAxes(m.weight, -1))))
	return moments{mean: Add(m.mean, Mul(off, share)), squares: Add(m.squares, squares), weight: total}
}
