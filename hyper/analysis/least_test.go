package analysis

import (
	"errors"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/internal/toys"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Half a unit of regret per period is the target of all toys: 50 over their 100 periods.
func toyTarget(*lab.Setting) float64 { return 0.5 }

// Entry i costs (i + 2) x 100. Entry 0 is far above the target. Entry 1 has its mean below the target, but not its
// interval. Entries 2 and 3 are below the target.
func TestLeastComputation(t *testing.T) {
	rows := toys.Rows(0, []float64{1, 60}, []float64{1, 61}, []float64{1, 62}, []float64{1, 63})
	rows = append(rows, toys.Rows(1, []float64{1, 20}, []float64{1, 20}, []float64{1, 20}, []float64{1, 120})...)
	rows = append(rows, toys.Rows(2, []float64{1, 38}, []float64{1, 40}, []float64{1, 42}, []float64{1, 40})...)
	rows = append(rows, toys.Rows(3, []float64{1, 30}, []float64{1, 31}, []float64{1, 30}, []float64{1, 31})...)
	h := toys.Header(4)
	l := must.M1(LeastComputation(h, rows, []int{3, 0, 2, 1}, toyTarget))
	if l.Entry != 2 || l.Computation.Value != 400 || l.Runs != 4 {
		t.Errorf("got %+v, want entry 2 with computation 400", l)
	}
	// Regrets 38, 40, 42, 40: mean 40, standard error sqrt(8/3)/2 = 0.8165, t(3) = 3.1824; all over 100 periods.
	toys.Near(t, "average", float64(l.Average.Value), 0.40)
	toys.Near(t, "its upper end", float64(l.Average.Upper), 0.440939) // 0.40 exp(1.5 x 0.8165 x 3.1824 / 40)
	// Entry 1 may perform well, and entry 2 does.
	if l.Computation.Lower != 300 || l.Computation.Upper != 400 {
		t.Errorf("interval %v, want from 300 to 400", l.Computation)
	}
	dear := must.M1(LeastComputation(h, rows, []int{3}, toyTarget))
	ratio, p, err := l.Over(dear, 1)
	if err != nil || ratio.Value != 0.8 || ratio.Lower != 0.6 || ratio.Upper != 0.8 {
		t.Errorf("ratio %v (error %v), want 400/500, from 300/500", ratio, err)
	}
	if want := l.all[2].p; p != want || !(p > 0.001 && p < 0.05) { // if entry 2 were not certain, the ratio might be 1
		t.Errorf("p = %v for a ratio of 1, want the p-value of entry 2 against the target, %v", p, want)
	}
	if _, p, err = dear.Over(l, 1.5); err != nil || p < 0.5 { // 500 over 300 to 400
		t.Errorf("p = %v of a ratio of 1.5 (error %v)", p, err)
	}
}

// A setting with a run of very large regret does not perform well, and also may not perform well.
func TestLeastComputationIsCareful(t *testing.T) {
	rows := toys.Rows(0, []float64{1, 90}, []float64{1, 91}, []float64{1, 92}, []float64{1, 93})
	rows = append(rows, toys.Rows(1, []float64{1, 43}, []float64{1, 44}, []float64{1, 46}, []float64{1, 47})...)
	h := toys.Header(2)
	if _, err := LeastComputation(h, rows, []int{0}, toyTarget); !errors.Is(err, ErrNoneBelow) {
		t.Errorf("of much regret: error %v, want ErrNoneBelow", err)
	}
	l, err := LeastComputation(h, rows, []int{0, 1}, toyTarget)
	if err != nil || l.Entry != 1 || l.Computation.Lower != 300 || l.Computation.Upper != 300 {
		// mean 45, half width 4.4: just below
		t.Errorf("got %+v (error %v), want entry 1 alone", l, err)
	}
	if _, err := LeastComputation(h, rows[:2], []int{0}, toyTarget); !errors.Is(err, ErrNoRows) {
		t.Errorf("of one seed: error %v, want ErrNoRows", err)
	}
	other, err := LeastComputation(h, rows[:14], []int{1}, toyTarget)
	if err == nil {
		_, _, err = l.Over(other, 1)
	}
	if err == nil {
		t.Error("a ratio over different seeds is not refused")
	}
}
