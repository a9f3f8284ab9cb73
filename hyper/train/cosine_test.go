package train

import (
	"fmt"
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
)

// The factors equal those in plain Go, on both backends.
func TestCosine(t *testing.T) {
	sizes := array{[]int{5}, []float64{0, 1, 6, 8, 40}}
	for schedule, factor := range map[Cosine]func(t float64) float64{
		{Periods: 30}: func(t float64) float64 { return (1 + math.Cos(math.Pi*min(t/30, 1))) / 2 },
		{Periods: 8, Final: 0.25}: func(t float64) float64 {
			return 0.25 + 0.75*math.Pow(math.Cos(math.Pi/2*min(t/8, 1)), 2) // (1 + cos 2a) / 2 = cos^2 a
		},
	} {
		var want []float64
		for _, size := range sizes.v {
			want = append(want, factor(size))
		}
		for _, name := range backends() {
			out := eval(t, name, func(in []*Node) []*Node { return []*Node{schedule.Factor(in[0])} }, sizes.float32s())
			near(t, fmt.Sprintf("%+v on %s", schedule, name), out[0].v, want, single)
		}
	}
}

func TestCosineIsChecked(t *testing.T) {
	for want, s := range map[string]Cosine{
		"Schedule: Periods must":  {},
		"Final must be at most 1": {Periods: 1, Final: 2},
	} {
		if err := (Config{Schedule: s}).ValidateNames(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", s, err, want)
		}
	}
}

// The steps fall to a tenth along half a wave, in 5,000 periods.
func ExampleCosine() {
	c := Config{Optimizer: Adam{}, Schedule: Cosine{Periods: 5000, Final: 0.1}}
	fmt.Println(c.ValidateNames())
	// Output: <nil>
}
