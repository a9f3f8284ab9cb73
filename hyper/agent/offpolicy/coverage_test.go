package offpolicy

import (
	"errors"
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

// coverage says how an estimator did on some logs.
type coverage struct {
	share, width float64 // of the intervals that contain the true value; the mean width
	values       []float64
	refused      int
}

// covered evaluates logs of a world by estimators. At most 5 of 1,000 logs may be refused for their mean weight; by
// chance it is 1.
func covered(w *world, logs, n int, o Options, all ...Estimator) []coverage {
	r, out, truth := rand.New(rand.NewPCG(1, 2)), make([]coverage, len(all)), make([]float64, len(all))
	for i, e := range all {
		truth[i] = w.estimand(e)
	}
	for range logs {
		log := w.log(r, n)
		for i, e := range all {
			c := &out[i]
			got, err := Evaluate(log, e, o)
			if errors.Is(err, ErrMeanWeight) && c.refused < 5 {
				c.refused++
				continue
			}
			if must.M1(got, err).Lower <= truth[i] && truth[i] <= got.Upper {
				c.share++
			}
			c.width += got.Upper - got.Lower
			c.values = append(c.values, got.Value)
		}
	}
	for i := range out {
		n := float64(len(out[i].values))
		out[i].share, out[i].width = out[i].share/n, out[i].width/n
	}
	return out
}

// Of 1,000 logs, 93% to 97% have an interval that contains the true value: a true coverage of 95% gives a share from
// 0.936 to 0.964 in 95 of 100 tests. Estimators without bias have the true value on average.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs")
	}
	for _, k := range []struct {
		name string
		w    *world
		n    int
		all  []Estimator
	}{
		{"half at random, clicks", newWorld(0.5, bernoulli), 2000, estimators},
		{"all at random, normal rewards", newWorld(1, gaussian), 1000, []Estimator{IPS{Clip: 5}, SNIPS{}, DoublyRobust{}}},
		{"half at random, single probabilities", newWorld(0.5, bernoulli).partial(), 2000,
			[]Estimator{IPS{}, Switch{Threshold: 5}}},
	} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			for i, c := range covered(k.w, 1000, k.n, Options{}, k.all...) {
				mean, deviation := stat.MeanStdDev(c.values, nil)
				bias := mean - k.w.estimand(k.all[i])
				t.Logf("%v: coverage %.3f, width %.4f, bias %.5f, deviation %.4f", k.all[i], c.share, c.width, bias, deviation)
				if c.share < 0.93 || c.share > 0.97 {
					t.Errorf("%v: coverage is %.3f, want 0.93 to 0.97", k.all[i], c.share)
				}
				if math.Abs(bias) > 4*deviation/math.Sqrt(1000)+0.01*deviation {
					t.Errorf("%v: the mean of 1,000 values has an error of %v, and their deviation is %v",
						k.all[i], bias, deviation)
				}
			}
		})
	}
}

// With a fifth of the actions at random, 600 decisions have about six weights of 50 that matter, and sometimes none.
// The interval knows the weights that the log may lack, and its coverage is too large. Options.Least refuses it.
func TestCoverageWithHeavyWeights(t *testing.T) {
	w := newWorld(0.2, bernoulli)
	c := covered(w, 400, 600, Options{Least: 0.1}, SNIPS{})[0]
	t.Logf("coverage %.3f, width %.4f", c.share, c.width)
	if c.share < 0.95 {
		t.Errorf("coverage is %.3f, want 0.95 or more", c.share)
	}
	if _, err := Evaluate(w.log(newRand(), 600), SNIPS{}, Options{}); !errors.Is(err, ErrTooFew) {
		t.Errorf("error is %v, want ErrTooFew", err)
	}
}

// A logging policy that learns has other probabilities in each decision, which depend on earlier decisions. It takes
// the arm with the best rewards so far in 7 of 10 decisions, and otherwise any arm; the reward model has the mean
// rewards so far. The target takes the worst arm.
func TestCoverageOfLearningLog(t *testing.T) {
	if testing.Short() {
		t.Skip("not in short runs")
	}
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
