package base

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Forward's function equals Apply. Its gradient equals the gradient of sum(df * f) by central differences in double
// precision (accurate to 1e-8 here, because with this seed no ReLU is within 1e-4 of its kink) and by GoMLX's automatic
// differentiation. The gradients of OutputsFastGradient equal those of automatic differentiation. So does the gradient
// of a penalty for the gradient with respect to x, which does not depend on the last biases. The networks have no hidden
// layers, narrow ones, and layers so wide that a product is not a fused loop (18 x 16 is above 256 weights). There are 7
// inputs.
func TestForward(t *testing.T) {
	const data = 7
	r := rand.New(rand.NewPCG(8, 9))
	for _, b := range []MLP{
		{Layers: []int{3, 1}},
		{Layers: []int{3, 4, 1}},
		{Layers: []int{2, 4, 3, 1}, Activation: ActivationTanh},
		{Layers: []int{3, 5, 1}, Activation: ActivationIdentity},
		{Layers: []int{2, 3, 2, 3, 1}},
		{Layers: []int{2, 16, 18, 1}, Activation: ActivationTanh},
		{Layers: []int{3, 2}}, // LogOdds, like the next two
		{Layers: []int{3, 4, 2}},
		{Layers: []int{2, 4, 3, 2}, Activation: ActivationTanh},
	} {
		net := interface {
			Apply(theta, x *Node) *Node
			Forward(theta, x *Node) (f *Node, backward func(df *Node) *Node)
		}(b)
		if b.NumOutputs() == 2 {
			net = LogOdds{b}
		}
		size := 0
		for _, n := range b.Groups() {
			size += n
		}
		theta, x, df := random(r, runs*indices*size), random(r, runs*data*b.Layers[0]), random(r, runs*indices*data)
		var want, values []float64
		for i := range runs * indices {
			own, run := floats(theta[i*size:][:size]), i/indices
			f := func(j int) float64 {
				out := forward(b, own, floats(x[(run*data+j)*b.Layers[0]:][:b.Layers[0]]))
				return out[len(out)-1] - float64(len(out)-1)*out[0] // the last output, minus the first of two
			}
			weighed := func() (sum float64) {
				for j := range data {
					sum += float64(df[i*data+j]) * f(j)
				}
				return sum
			}
			for j := range data {
				values = append(values, f(j))
			}
			const h = 1e-5
			for k, was := range own {
				own[k] = was + h
				up := weighed()
				own[k] = was - h
				want = append(want, (up-weighed())/(2*h))
				own[k] = was
			}
		}
		t.Run(fmt.Sprint(b.Layers, b.Activation), func(t *testing.T) {
			testbackend.ForEach(t, func(t *testing.T, name string) {
				out := eval(t, name, func(in []*Node) []*Node {
					f, backward := net.Forward(in[0], in[1])
					apply := net.Apply(in[0], in[1])
					gradients := func(f *Node) []*Node {
						of := Gradient(ReduceAllSum(Mul(f, in[2])), in[0], in[1])
						return append(of, Gradient(ReduceAllSum(Square(of[1])), in[0])...)
					}
					automatic, fast := gradients(apply), gradients(scalar(b.OutputsFastGradient(in[0], in[1])))
					return []*Node{f, apply, backward(in[2]), automatic[0], fast[0], automatic[1], fast[1],
						automatic[2], fast[2]}
				}, tensors.FromFlatDataAndDimensions(theta, runs, indices, size),
					tensors.FromFlatDataAndDimensions(x, runs, data, b.Layers[0]),
					tensors.FromFlatDataAndDimensions(df, runs, indices, data))
				same(t, "f", out[0], values)
				same(t, "Apply", out[1], values)
				same(t, "backward", out[2], want)
				same(t, "automatic gradient", out[3], want)
				same(t, "gradient of OutputsFastGradient", out[4], want)
				same(t, "its gradient with respect to x", out[6], floats(out[5]))
				same(t, "its gradient of a penalty", out[8], floats(out[7]))
			})
		})
	}
}

// scalar returns the only one of some outputs, or the difference of two, as LogOdds does.
func scalar(outputs *Node) *Node {
	at := func(i int) *Node { return Squeeze(Slice(outputs, AxisRange(), AxisRange(), AxisElem(i)), 2) }
	if outputs.Shape().Dim(2) == 1 {
		return at(0)
	}
	return Sub(at(1), at(0))
}
