package testbed

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// Accuracy and calibration error of a few predictions are what the definition says: of four of confidence 0.95 three are
// right, of two of 0.65 one, and one of a half, which is at the border, is wrong. A prediction that is no number shows.
func TestCalibration(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, name string) {
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
			accuracy, ece := Calibration(in[0])
			return []*Node{accuracy, ece}
		}, ll)
		near(t, "accuracy", out[0][:2], []float64{4. / 7, 1}, 1e-6)
		// in the bin of 0.5 one prediction, off by 0.5; in that of 0.65 two, in that of 0.95 four
		near(t, "calibration error", out[1][:2], []float64{(4*math.Abs(0.75-0.95) + 2*math.Abs(0.5-0.65) + 0.5) / 7, 0}, 1e-6)
		if !math.IsNaN(out[0][2]) || !math.IsNaN(out[1][2]) {
			t.Errorf("of a prediction that is no number: %v, %v", out[0][2], out[1][2])
		}
	})
}
