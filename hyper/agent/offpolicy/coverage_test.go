package offpolicy

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

func init() { testbackend.CompileQuickly() }

var estimators = []Estimator{IPS{}, IPS{Clip: 5}, SNIPS{}, DoublyRobust{}, Switch{Threshold: 5}}

// covered evaluates logs of a world, and returns the share of intervals that contain the true value, their mean width,
// and the values. At most 5 of 1,000 logs may be refused for their mean weight; by chance it is 1.
func covered(w *world, truth float64, logs, n int, e Estimator, o Options) (share, width float64, values []float64) {
	r, held, refused := rand.New(rand.NewPCG(1, 2)), 0, 0
	for range logs {
		got, err := Evaluate(w.log(r, n), e, o)
		if errors.Is(err, ErrMeanWeight) && refused < 5 {
			refused++
			continue
		}
		if err != nil {
			panic(err)
		}
		if got.Lower <= truth && truth <= got.Upper {
			held++
		}
		width += got.Upper - got.Lower
		values = append(values, got.Value)
	}
	n = len(values)
	return float64(held) / float64(n), width / float64(n), values
}

// Of 1,000 logs, 93% to 97% have an interval that contains the true value: a true coverage of 95% gives a share from
// 0.936 to 0.964 in 95 of 100 tests. Estimators without bias have the true value on average.
func TestCoverage(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		name string
		w    *world
		n    int
	}{
		{"half at random, clicks", newWorld(0.5, bernoulli), 2000},
		{"all at random, normal rewards", newWorld(1, gaussian), 1000},
		{"half at random, single probabilities", newWorld(0.5, bernoulli).partial(), 2000},
	} {
		for _, e := range estimators {
			t.Run(fmt.Sprint(k.name, ", ", e), func(t *testing.T) {
				t.Parallel()
				share, width, values := covered(k.w, k.w.estimand(e), 1000, k.n, e, Options{})
				mean, deviation := stat.MeanStdDev(values, nil)
				bias := mean - k.w.estimand(e)
				t.Logf("coverage %.3f, width %.4f, bias %.5f, deviation %.4f", share, width, bias, deviation)
				if share < 0.93 || share > 0.97 {
					t.Errorf("coverage is %.3f, want 0.93 to 0.97", share)
				}
				if math.Abs(bias) > 4*deviation/math.Sqrt(1000)+0.01*deviation {
					t.Errorf("the mean of 1,000 values has an error of %v, and their deviation is %v", bias, deviation)
				}
			})
		}
	}
}

// With a fifth of the actions at random, 600 decisions have about six weights of 50 that matter, and sometimes none.
// The interval knows the weights that the log may lack, and its coverage is too large. Options.Least refuses it.
func TestCoverageWithHeavyWeights(t *testing.T) {
	t.Parallel()
	w := newWorld(0.2, bernoulli)
	share, width, _ := covered(w, w.value(), 400, 600, SNIPS{}, Options{Least: 0.1})
	t.Logf("coverage %.3f, width %.4f", share, width)
	if share < 0.95 {
		t.Errorf("coverage is %.3f, want 0.95 or more", share)
	}
	if _, err := Evaluate(w.log(newRand(), 600), SNIPS{}, Options{}); !errors.Is(err, ErrTooFew) {
		t.Errorf("error is %v, want ErrTooFew", err)
	}
}

// A logging policy that learns has other probabilities in each decision, which depend on earlier decisions. It takes
// the arm with the best rewards so far in 7 of 10 decisions, and otherwise any arm; the reward model has the mean
// rewards so far. The target takes the worst arm.
func TestCoverageOfLearningLog(t *testing.T) {
	t.Parallel()
	r, held, means := rand.New(rand.NewPCG(1, 2)), map[Estimator]int{}, []float64{0.45, 0.5, 0.55}
	for range 1000 {
		var sum, count [3]float64
		var samples []Sample
		for range 700 {
			logged, model := []float64{0.1, 0.1, 0.1}, make([]float64, 3)
			for a := range model {
				model[a] = (sum[a] + 0.5) / (count[a] + 1)
			}
			logged[floats.MaxIdx(model)] += 0.7
			a := int(distuv.NewCategorical(logged, r).Rand())
			x := bernoulli(r, means[a])
			sum[a], count[a] = sum[a]+x, count[a]+1
			samples = append(samples, must.M1(NewSample(a, x, logged, []float64{1, 0, 0}, model)))
		}
		for _, e := range []Estimator{IPS{}, SNIPS{}, DoublyRobust{}} {
			got, err := Evaluate(samples, e, Options{})
			if err != nil && !errors.Is(err, ErrMeanWeight) {
				t.Fatal(err)
			}
			if got.Lower <= means[0] && means[0] <= got.Upper {
				held[e]++
			}
		}
	}
	for e, n := range held {
		t.Logf("%v: %d of 1,000 logs", e, n)
		if n < 930 || n > 970 {
			t.Errorf("%v: the intervals of %d of 1,000 logs hold the truth, want 930 to 970", e, n)
		}
	}
}

// A reward model reduces the variance, and a correct model reduces it more.
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
