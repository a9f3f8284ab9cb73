package testbed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// given returns drawn classes from a graph's inputs: the truth, ones and zeros.
func given(in []*Node) drawnTests { return drawnTests{Truth: in[0], Ones: in[1], Zeros: in[2]} }

// counts makes drawn classes with a truth, and the log odds of several functions at a scale.
func counts(r *rand.Rand, runs, batches, distinct, tau, functions int, scale float64) (args []any, f []float64) {
	n := runs * batches * distinct
	truth, ones, zeros := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range truth {
		truth[i] = float32(scale * r.NormFloat64())
	}
	for batch := range runs * batches {
		for range tau {
			i := batch*distinct + r.IntN(distinct)
			if r.Float64() < sigmoid(float64(truth[i])) {
				ones[i]++
			} else {
				zeros[i]++
			}
		}
	}
	values := make([]float32, runs*functions*batches*distinct)
	for i := range values {
		values[i] = float32(scale * r.NormFloat64())
		f = append(f, float64(values[i]))
	}
	of := tensors.FromFlatDataAndDimensions[float32]
	return []any{of(truth, runs, batches*distinct), of(ones, runs, batches, distinct), of(zeros, runs, batches, distinct),
		of(values, runs, functions, batches*distinct)}, f
}

func flat(tensor any) []float64 {
	var out []float64
	for _, v := range tensors.MustCopyFlatData[float32](tensor.(*tensors.Tensor)) {
		out = append(out, float64(v))
	}
	return out
}

// byHand returns the log-likelihood of each batch for each index: sums of logarithms of probabilities in double
// precision.
func byHand(args []any, f []float64, runs, batches, distinct, functions int) (ll [][][]float64) {
	ones, zeros := flat(args[1]), flat(args[2])
	logProbability := func(f float64) float64 { return -math.Log1p(math.Exp(-math.Abs(f))) - max(-f, 0) }
	ll = make([][][]float64, runs)
	for run := range runs {
		ll[run] = make([][]float64, functions)
		for k := range functions {
			ll[run][k] = make([]float64, batches)
			for i := range batches * distinct {
				f := f[(run*functions+k)*batches*distinct+i]
				at := run*batches*distinct + i
				ll[run][k][i/distinct] += ones[at]*logProbability(f) + zeros[at]*logProbability(-f)
			}
		}
	}
	return ll
}

// logMean returns the logarithm of the weighted mean of exponentials for each batch.
func logMean(ll [][]float64, weights []float64) []float64 {
	out := make([]float64, len(ll[0]))
	for batch := range out {
		top, sum, total := math.Inf(-1), 0.0, 0.0
		for k := range ll {
			if weights[k] > 0 {
				top = max(top, ll[k][batch])
			}
		}
		for k, w := range weights {
			if w > 0 {
				sum += w * math.Exp(ll[k][batch]-top)
			}
			total += w
		}
		out[batch] = top + math.Log(sum/total)
	}
	return out
}

// The log-likelihoods, their mixture and the divergence equal a computation by hand, for every size of the chunks of
// indices. The odds are near 1, or so large that products underflow. Weights count an index several times, or, if 0,
// not at all.
func TestDivergence(t *testing.T) {
	const runs, batches, functions = 2, 6, 7
	weights := [][]float32{{1, 0, 2, 3, 0, 1, 1}, {0, 0, 0, 0, 5, 0, 1}}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		for _, distinct := range []int{2, 10} {
			for _, scale := range []float64{0.5, 100} {
				r := rand.New(rand.NewPCG(uint64(distinct), uint64(scale)))
				args, f := counts(r, runs, batches, distinct, 10, functions, scale)
				ll := byHand(args, f, runs, batches, distinct, functions)
				out := eval(t, name, func(in []*Node) []*Node {
					d, g := given(in), in[0].Graph()
					all := d.LogLikelihood(in[3])
					chunk := func(x *Node, from, to int) *Node { return Slice(x, AxisRange(), AxisRange(from, to)) }
					once := newMeanLikelihood(g, runs, batches).Accumulate(all, nil).Mean()
					chunks := newMeanLikelihood(g, runs, batches)
					for _, cut := range [][2]int{{0, 1}, {1, 5}, {5, 7}} {
						chunks = chunks.Accumulate(d.LogLikelihood(chunk(in[3], cut[0], cut[1])), chunk(in[4], cut[0], cut[1]))
					}
					mean, se := d.Divergence(once)
					return []*Node{all, once, chunks.Mean(), mean, se}
				}, append(args, weights)...)
				what := fmt.Sprintf("%d inputs, odds of e^%v: ", distinct, scale)
				for run := range runs {
					at := func(x []float64) []float64 { return x[run*len(x)/runs:][:len(x)/runs] }
					near(t, what+"log-likelihood", at(out[0]), slices.Concat(ll[run]...), single)
					mean := logMean(ll[run], slices.Repeat([]float64{1}, functions))
					near(t, what+"mixture", at(out[1]), mean, single)
					var w []float64
					for _, v := range weights[run] {
						w = append(w, float64(v))
					}
					near(t, what+"weighted, in chunks", at(out[2]), logMean(ll[run], w), single)
					d, se := divergence(args, mean, run, runs, batches, distinct)
					near(t, what+"divergence and error", []float64{at(out[3])[0], at(out[4])[0]}, []float64{d, se}, single)
				}
			}
		}
	})
}

// divergence computes Divergence of a run by hand.
func divergence(args []any, ll []float64, run, runs, batches, distinct int) (mean, se float64) {
	truth := byHand(args, flat(args[0]), runs, batches, distinct, 1)[run][0]
	n := float64(batches)
	for i := range truth {
		mean += (truth[i] - ll[i]) / n
	}
	for i := range truth {
		se += math.Pow(truth[i]-ll[i]-mean, 2)
	}
	return mean, math.Sqrt(se / n / (n - 1))
}
