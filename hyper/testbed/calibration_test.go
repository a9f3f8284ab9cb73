package testbed

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

func init() { testbackend.CompileQuickly() }

// TestCalibration compares accuracy and calibration error of a few predictions to the definition. Of four predictions
// with confidence 0.95 three are right, of two with 0.65 one is right, and one with 0.5, at the border of two classes,
// is wrong. A prediction that is NaN makes both scores NaN.
func TestCalibration(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		var ll [][]float32
		for _, p := range [][]float64{{0.95, 0.95, 0.95, 0.05, 0.65, 0.35, 0.5}, {1, 1, 1, 1, 1, 1, 1}} {
			row := []float32{}
			for _, x := range p {
				row = append(row, float32(math.Log(x)))
			}
			ll = append(ll, row)
		}
		ll = append(ll, append([]float32{float32(math.NaN())}, ll[0][1:]...))
		out := eval(t, name, func(in []*Node) []*Node {
			accuracy, ece := calibration(in[0])
			return []*Node{accuracy, ece}
		}, ll)
		near(t, "accuracy", out[0][:2], []float64{4. / 7, 1}, 1e-6)
		// The bin of 0.5 has one prediction, whose error is 0.5; the bin of 0.65 has two, and the bin of 0.95 has four.
		near(t, "calibration error", out[1][:2], []float64{(4*math.Abs(0.75-0.95) + 2*math.Abs(0.5-0.65) + 0.5) / 7, 0}, 1e-6)
		if !math.IsNaN(out[0][2]) || !math.IsNaN(out[1][2]) {
			t.Errorf("prediction NaN: got scores %v and %v, want NaN", out[0][2], out[1][2])
		}
	})
}
