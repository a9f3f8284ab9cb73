package hyper

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/base"
)

// EpinetHead is the part of an [Epinet] that depends on the index, g([z, phi])^T z, for one or more outputs. g is a
// ReLU network with Dim numbers for each output. The trained part and the fixed part of an epinet are both such
// functions.
type EpinetHead struct {
	Inputs  int   // length of phi
	Hidden  []int // hidden widths of g
	Dim     int   // dimension of the index
	Outputs int
}

// Net returns g, whose inputs are z followed by phi, and whose outputs are Dim numbers for each of Outputs.
func (h EpinetHead) Net() base.MLP { return layers(h.Dim+h.Inputs, h.Hidden, h.Outputs*h.Dim) }

// Apply returns g([z, phi])^T z, [runs, indices, outputs, inputs]. theta [runs, parameters] are the parameters of g, z
// is [runs, indices, Dim], and phi is [runs, inputs, Inputs]. The first layer is linear before its activation. It is
// therefore the sum of a part for z and a part for phi, and Apply never concatenates an index with an input.
func (h EpinetHead) Apply(theta, z, phi *Node) *Node {
	runs, indices, inputs := z.Shape().Dim(0), z.Shape().Dim(1), phi.Shape().Dim(1)
	net, at := h.Net(), 0
	var units *Node // [runs, units, indices * inputs]
	for i := range len(net.Layers) - 1 {
		in, out := net.Layers[i], net.Layers[i+1]
		part := func(n int) *Node { at += n; return Slice(theta, AxisRange(), AxisRange(at-n, at)) }
		w := Reshape(part(in*out), runs, out, in)
		bias := InsertAxes(part(out), -1)
		if i == 0 {
			columns := func(from, to int) *Node { return Slice(w, AxisRange(), AxisRange(), AxisRange(from, to)) }
			ofIndex := Add(Einsum("roi,rni->ron", columns(0, h.Dim), z), bias)
			ofInput := Einsum("roi,rbi->rob", columns(h.Dim, in), phi)
			units = Reshape(Add(InsertAxes(ofIndex, -1), InsertAxes(ofInput, 2)), runs, out, indices*inputs)
		} else {
			units = Add(Einsum("roi,rik->rok", w, MaxScalar(units, 0)), bias)
		}
	}
	g := Reshape(units, runs, h.Outputs, h.Dim, indices, inputs)
	along := ReduceSum(Mul(g, InsertAxes(Transpose(z, 1, 2), 1, -1)), 2) // [runs, outputs, indices, inputs]
	return Transpose(along, 1, 2)
}
