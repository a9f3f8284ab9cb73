package train

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/index"
)

// Loss is the paper's L~(nu, D~, Z~) of section 2.1 for each run, [runs]:
//
//	1/|Z~| sum_z [ 1/(2 sigma_w^2) |D|/|D~| sum_(x,y,a) (y + sigma_w a^T z - f_{g_nu(z)}(x))^2
//	               + 1/(2 sigma_p^2) ||g_nu(z) - g_nu0(z)||^2 ]
//
// size is |D|, a float32 scalar; |D~| is the number of data in the batch.
func Loss(m hyper.Model, p hyper.Params, data Batch, z index.Set, size *Node, r Rates) *Node {
	target := Add(InsertAxes(data.Y, 1), Mul(InsertAxes(r.Perturbation, -1, -1), m.Index().Dot(data.A, z, data.X)))
	misfit := ReduceSum(Square(Sub(target, m.Predict(p, z, data.X))), 2) // [runs, indices]
	weight := MulScalar(size, 1/float64(data.Y.Shape().Dim(1)))
	moved := Sub(m.Hyper.Theta(p.Nu, z), StopGradient(m.Hyper.Theta(p.Nu0, z)))
	fit := Mul(InsertAxes(Div(Mul(weight, OnesLike(r.NoiseVar)), MulScalar(r.NoiseVar, 2)), -1), misfit)
	anchor := Div(ReduceSum(Square(moved), 2), InsertAxes(MulScalar(r.PriorVar, 2), -1))
	return ReduceMean(Add(fit, anchor), 1)
}

// SampledGradient is the gradient of [Loss] with respect to nu by automatic differentiation. It works for every model.
func SampledGradient(m hyper.Model, p hyper.Params, data Batch, z index.Set, size *Node, r Rates) []*Node {
	return Gradient(ReduceAllSum(Loss(m, p, data, z, size, r)), p.Nu...)
}
