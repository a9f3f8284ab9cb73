package train

import (
	"fmt"
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
)

// referenceSchedules are the factors for a number of data, in plain Go.
var referenceSchedules = map[Schedule]func(t float64) float64{
	Constant{}:             func(float64) float64 { return 1 },
	InverseRoot{}:          func(t float64) float64 { return math.Pow(1+t/100, -0.5) },
	InverseRoot{After: 20}: func(t float64) float64 { return math.Pow(1+t/20, -0.5) },
}

// The factors equal those in plain Go on both backends, with one |D| for all runs or one for each run. A factor is 1 at
// first, and never above 1.
func TestSchedules(t *testing.T) {
	sizes := array{[]int{4}, []float64{0, 1, 12, 40}}
	for schedule, factor := range referenceSchedules {
		if factor(0) != 1 || factor(7) > 1 {
			t.Errorf("%+v: got factors %v and %v, want 1 and at most 1", schedule, factor(0), factor(7))
		}
		var want []float64
		for _, size := range sizes.v {
			want = append(want, factor(size))
		}
		for _, name := range backends() {
			out := eval(t, name, func(in []*Node) []*Node {
				return []*Node{schedule.Factor(in[0]), schedule.Factor(Const(in[0].Graph(), float32(12)))}
			}, sizes.float32s())
			near(t, fmt.Sprintf("%+v on %s", schedule, name), out[0].v, want, single)
			near(t, fmt.Sprintf("%+v of a scalar on %s", schedule, name), out[1].v, want[2:3], single)
		}
	}
}

// A trainer's schedule receives |D|: a step of SGD is the factor times the step without a schedule.
func TestScheduledTraining(t *testing.T) {
	m := linearModels()[0].Model
	p := newTrial(t, m, 5, 5)
	schedule := InverseRoot{After: 2}
	out := eval(t, backend.Go, func(in []*Node) []*Node {
		g := p.nodes(in)
		move := func(s Schedule) []*Node {
			tr := Trainer{m, Config{Steps: 1, Batch: 5, Indices: 4, Capacity: 5, Schedule: s}}
			state := g.state()
			q := tr.problem()
			d := draws{data: g.data, sets: p.sample(in[0].Graph(), 4), count: 4}
			tr.step(state, newFeatures(q), &d, loop.At(0), Const(in[0].Graph(), float32(5)), g.Rates)
			return []*Node{Sub(state["nu.0"], g.Nu[0]), Sub(state["nu.1"], g.Nu[1])}
		}
		want := move(nil)
		for i := range want {
			want[i] = MulScalar(want[i], 1/math.Sqrt(1+5.0/2))
		}
		return append(want, move(schedule)...)
	}, p.args()...)
	compareHalves(t, out)
}

func TestSchedulesAreChecked(t *testing.T) {
	for want, s := range map[string]Schedule{
		"Schedule: After must":    InverseRoot{After: -1},
		"Schedule is a pointer, ": &InverseRoot{},
	} {
		if err := (Config{Schedule: s}).ValidateNames(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", s, err, want)
		}
	}
	if err := (Config{Optimizer: Adam{}, Schedule: InverseRoot{}}).ValidateNames(); err != nil {
		t.Error(err)
	}
}

// The steps fall to 1/sqrt(2) after 1,000 data. The limit of stability is the limit for constant steps.
func ExampleInverseRoot() {
	c := Config{Optimizer: Adam{}, Schedule: InverseRoot{After: 1000}}
	fmt.Println(c.ValidateNames())
	// Output: <nil>
}
