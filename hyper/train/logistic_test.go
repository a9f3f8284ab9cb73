package train

import (
	"fmt"
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

func referenceLogistic(f, y float64) float64 { return math.Log1p(math.Exp(f)) - y*f }

// The logistic loss, its derivative and its link equal the formulas in double precision on both backends, also for
// large f, where e^f overflows single precision.
func TestLogistic(t *testing.T) {
	f := []float32{-200, -30, -3, -0.5, 0, 0.25, 2.5, 30, 200}
	y := []float32{0, 1, 1, 0, 0.5, 0.25, 1, 0, 1}
	for _, name := range backends() {
		out := eval(t, name, func(in []*Node) []*Node {
			l := LogisticLoss{}
			return []*Node{l.Value(in[0], in[1]), l.Gradient(in[0], in[1]), l.Link(in[0])}
		}, f, y)
		for i := range f {
			x, r := float64(f[i]), float64(y[i])
			link := 1 / (1 + math.Exp(-x))
			near(t, fmt.Sprintf("loss at %v", x), out[0].v[i:i+1], []float64{referenceLogistic(x, r)}, single)
			near(t, fmt.Sprintf("slope at %v", x), out[1].v[i:i+1], []float64{link - r}, single)
			near(t, fmt.Sprintf("link at %v", x), out[2].v[i:i+1], []float64{link}, single)
		}
	}
	if (LogisticLoss{}).Quadratic() {
		t.Error("the logistic loss is not quadratic")
	}
}

// A prediction of 0 is a probability of 1/2, and its loss is log 2 for both responses.
func ExampleLogisticLoss() {
	b, _ := backend.Open(backend.Go)
	out, _ := CallOnceN(b, func(f *Node) []*Node {
		return []*Node{LogisticLoss{}.Link(f), LogisticLoss{}.Value(f, OnesLike(f))}
	}, []float32{0})
	fmt.Printf("%.4f %.4f\n", out[0].Value(), out[1].Value())
	// Output: [0.5000] [0.6931]
}
