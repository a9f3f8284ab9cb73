package hyper

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// truncatedVariance is the variance of a standard normal number truncated at two standard deviations; see
// TestInitializers.
const truncatedVariance = 1 - 4*0.053990967/0.954499736

// Weights have variance 0.774 over the fan-in, and lie within two standard deviations. Biases are 0, except for the
// biases of the first layer, which are N(0, firstBias^2). The mean square of n draws has a standard error of at most
// its sqrt(2/n).
func TestInitTruncatedLayers(t *testing.T) {
	net, n := base.MLP{Layers: []int{4, 9, 3, 1}}, 1500
	testbackend.ForEach(t, func(t *testing.T, name string) {
		out := eval(t, name, func(in []*Node) []*Node {
			s := rng.New(in[0])
			draw := func(bias float64) *Node { return InitTruncatedLayers(net, bias)(s, 0, 0, n, NumTheta(net)) }
			return []*Node{draw(0), draw(0.5)}
		}, []uint64{3})
		at := 0
		for i, size := range []int{4 * 9, 9, 9 * 3, 3, 3, 1} { // weights and biases of each layer
			want, bound := truncatedVariance/float64(net.Layers[i/2]), 2/math.Sqrt(float64(net.Layers[i/2]))
			for k, theta := range out {
				switch {
				case i == 1 && k == 1:
					want, bound = 0.25, math.Inf(1)
				case i%2 == 1:
					want, bound = 0, 0
				}
				square, largest := 0.0, 0.0
				for network := range slices.Chunk(theta, NumTheta(net)) {
					for _, v := range network[at : at+size] {
						square, largest = square+v*v/float64(n*size), max(largest, math.Abs(v))
					}
				}
				if math.Abs(square-want) > 5*want*math.Sqrt(2/float64(n*size)) || largest > bound*(1+1e-6) {
					t.Errorf("first bias %d, part %d: mean square %.4f, want %.4f; the largest is %.3f, at most %.3f", k, i,
						square, want,
						largest, bound)
				}
			}
			at += size
		}
	})
}

// outputPriors returns models with priors whose output is scaled. For each it returns the variance of predictions
// before any data and before the scaling, at standard normal inputs of 4 features. The distribution of units before
// ReLU is symmetric about 0: the mean square after ReLU is therefore half of the mean square before.
func outputPriors() map[string]struct {
	Model
	variance float64
} {
	net, small := base.MLP{Layers: []int{4, 20, 1}}, base.MLP{Layers: []int{4, 10, 1}}
	d := slices.Concat(slices.Repeat([]float64{1}, 50), slices.Repeat([]float64{1 / math.Sqrt(10)}, 11))
	type c = struct {
		Model
		variance float64
	}
	return map[string]c{
		// Ensemble+ of the Neural Testbed. The variance of a hidden unit is |x|^2/4 times 0.774 for the weights, plus
		// 1/4.
		"matched networks": {Model{
			net, Ensemble{Particles: 5, Params: 121, InitNu: InitZeros},
			&Prior{Base: net, Layout: Dense(121, 5), InitB: InitTruncatedLayers(net, 0.5), Output: net.Output()},
		}, truncatedVariance * (truncatedVariance + 0.25) / 2},
		// The prior of the testbed's hypermodel: each layer depends on its own part of the index, and parameters have
		// variance 1 and 1/10. The variance of each of the ten hidden units is |x|^2 + 1, and the output has a bias.
		"layers of a linear hypermodel": {Model{
			net, Linear{Layout: Dense(121, 6), P: index.Gaussian{N: 6}, InitC: InitZeros, InitM: InitZeros},
			&Prior{Base: small, Layout: PerGroup(small, 3), Rows: RowsSphere, StdDev: d, Output: small.Output()},
		}, 5.0/2 + 0.1},
	}
}

// sigma_p multiplies the predictions of a network whose Output is given. The predictions have the variance that follows
// from the distribution of the networks. The estimate uses 600 runs of 5 functions at 3 inputs; the values of one run
// have correlations of about a tenth.
func TestPriorOutput(t *testing.T) {
	for name, m := range outputPriors() {
		must.M(m.Validate())
		testbackend.ForEach(t, func(t *testing.T, on string) {
			const runs, functions, inputs = 600, 5, 3
			seeds, scale := make([]uint64, runs), make([]float32, runs)
			for i := range seeds {
				seeds[i], scale[i] = uint64(i), float32(i%7)/2
			}
			out := eval(t, on, func(in []*Node) []*Node {
				s := rng.New(in[0])
				z, x := m.Index().Sample(s.Named("z"), functions), s.Named("x").Normal(inputs, 4)
				one := m.Predict(m.Init(s, nil), z, x)
				return []*Node{m.Predict(m.Init(s, in[1]), z, x), Mul(one, InsertAxes(in[1], -1, -1)), ReduceAllMean(Square(one))}
			}, seeds, scale)
			same(t, name+": scaled", out[0], out[1], single)
			if math.Abs(out[2][0]/m.variance-1) > 0.15 {
				t.Errorf("%s on %s: variance %.3f before data, want %.3f", name, on, out[2][0], m.variance)
			}
		})
	}
}

func TestPriorRefuses(t *testing.T) {
	net := base.MLP{Layers: []int{2, 1}}
	for want, p := range map[string]Prior{
		"InitB and Rows both say":           {InitB: InitZeros, Rows: RowsSphere},
		"Output needs a StdDev or an InitB": {Output: 1},
		"Output must be one of the 3":       {InitB: InitZeros, Output: 3},
		"Output must be one of the 3 ":      {StdDev: []float64{1, 1, 1}, Output: -1},
	} {
		p.Base, p.Layout = net, Dense(3, 2)
		if err := (Model{net, Ensemble{Particles: 2, Params: 3}, &p}).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// InitTruncatedLayers draws networks as the Neural Testbed does: the weights of the hidden layer have a standard
// deviation of 0.88/sqrt(3).
func ExampleInitTruncatedLayers() {
	b, err := backend.Open(backend.Go)
	if err != nil {
		fmt.Println(err)
		return
	}
	net := base.MLP{Layers: []int{3, 50, 1}}
	out, err := CallOnce(b, func(seeds *Node) *Node {
		return InitTruncatedLayers(net, 0)(rng.New(seeds), 3, 50, 100, NumTheta(net)) // 100 networks
	}, []uint64{1})
	fmt.Println(out.Shape().Dimensions, err)
	// Output: [1 100 251] <nil>
}
