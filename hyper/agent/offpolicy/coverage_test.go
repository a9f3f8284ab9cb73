package offpolicy

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/stat"
)

var estimators = []Estimator{IPS{}, IPS{Clip: 5}, SNIPS{}, DoublyRobust{}, Switch{Threshold: 5}}

// covered evaluates logs of a world, and returns the share of intervals that hold the estimand, their mean width, and
// the values. Of 1,000 logs, 5 at most may be refused for their mean weight, which is by chance that of 1.
func covered(w *world, logs, n int, e Estimator, o Options) (share, width float64, values []float64) {
	r, truth, held, refused := rand.New(rand.NewPCG(1, 2)), w.estimand(e), 0, 0
	for range logs {
		got, err := Evaluate(w.log(r, n), e, o)
		if errors.Is(err, ErrMeanWeight) && refused < 5 {
			refused++
			continue
		}
		must.M(err)
		if got.Lower <= truth && truth <= got.Upper {
			held++
		}
		width += got.Upper - got.Lower
		values = append(values, got.Value)
	}
	n = len(values)
	return float64(held) / float64(n), width / float64(n), values
}

// Of 1,000 logs, 93 to 97 of 100 have an interval that holds the truth: a true coverage of 95% gives a share from 0.936
// to 0.964 in 95 of 100 tests. Estimators without bias have the true value on average.
func TestCoverage(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		name string
		w    *world
		n    int
	}{
		{"half at random, clicks", newWorld(0.5, bernoulli), 2000},
		{"all at random, normal rewards", newWorld(1, gaussian), 1000},
	} {
		for _, e := range estimators {
			t.Run(fmt.Sprint(k.name, ", ", e), func(t *testing.T) {
				t.Parallel()
				share, width, values := covered(k.w, 1000, k.n, e, Options{Least: 20})
				mean, deviation := stat.MeanStdDev(values, nil)
				bias := mean - k.w.estimand(e)
				t.Logf("coverage %.3f, width %.4f, bias %.5f, deviation %.4f", share, width, bias, deviation)
				if share < 0.93 || share > 0.97 {
					t.Errorf("coverage of Hall's intervals is %.3f, want 0.93 to 0.97", share)
				}
				if math.Abs(bias) > 4*deviation/math.Sqrt(1000)+0.01*deviation {
					t.Errorf("the mean of 1,000 values is off by %v, and their deviation is %v", bias, deviation)
				}
			})
		}
	}
}

// The bootstrap's intervals of 300 logs, and Bernstein's, which cover more by construction.
func TestCoverageOfOtherIntervals(t *testing.T) {
	t.Parallel()
	w := newWorld(0.5, bernoulli)
	for _, k := range []struct {
		interval    Interval
		e           Estimator
		least, most float64
	}{
		{Bootstrap{Draws: 199}, IPS{}, 0.92, 0.98},
		{Bootstrap{Draws: 199}, SNIPS{}, 0.92, 0.98},
		{Bernstein{Low: 0, High: 1, MaxWeight: 20}, IPS{}, 0.99, 1},
		{Bernstein{Low: 0, High: 1}, IPS{Clip: 5}, 0.99, 1},
	} {
		t.Run(fmt.Sprintf("%T, %v", k.interval, k.e), func(t *testing.T) {
			t.Parallel()
			share, width, _ := covered(w, 300, 2000, k.e, Options{Interval: k.interval})
			t.Logf("coverage %.3f, width %.4f", share, width)
			if share < k.least || share > k.most {
				t.Errorf("coverage is %.3f, want %v to %v", share, k.least, k.most)
			}
		})
	}
}

// A reward model lessens the variance, and one that is right lessens it more.
func TestModelLessensVariance(t *testing.T) {
	t.Parallel()
	w := newWorld(0.5, bernoulli)
	samples := w.log(rand.New(rand.NewPCG(3, 4)), 20000)
	ips := must.M1(Evaluate(samples, IPS{}, Options{}))
	dr := must.M1(Evaluate(samples, DoublyRobust{}, Options{}))
	if dr.StdErr > 0.8*ips.StdErr {
		t.Errorf("standard error %v with a model and %v without", dr.StdErr, ips.StdErr)
	}
	if truth := w.value(); math.Abs(dr.Value-truth) > 4*dr.StdErr || math.Abs(ips.Value-truth) > 4*ips.StdErr {
		t.Errorf("values %v and %v, want %v", ips, dr, truth)
	}
}
