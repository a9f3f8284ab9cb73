package agent_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Calibrate measures how well an agent predicts responses that it has not learned from.
func ExampleSnapshot_Calibrate() {
	a := must.M1(agent.Linear(1))
	for i := range 100 {
		x := float32(i%10) - 4.5
		must.M(a.Add([]float32{x}, 3*x+float32(i%3)))
	}
	s := a.Snapshot()
	defer s.Close()
	c := must.M1(s.Calibrate([][]float32{{1}, {2}}, []float32{4, 7}))
	fmt.Println("responses:", c.Responses)
	fmt.Println("in the middle of what was foretold:", c.PIT[0] > 0.2 && c.PIT[0] < 0.8)
	// Output:
	// responses: 2
	// in the middle of what was foretold: true
}

// worth sums calibrations: the differences of the actual from the expected densities, and the PITs.
type worth struct {
	marginal, joint []float64
	pit             []float64
	expected        float64 // joint density
}

// calibrated makes worlds from the belief's own prior. It teaches an agent in each world some data, and asks it to
// predict ten more. noise is the standard deviation of the responses' noise; the belief assumes 0.5.
func calibrated(t *testing.T, noise float64, worlds int) (w worth) {
	t.Helper()
	for seed := range uint64(worlds) {
		r := rand.New(rand.NewPCG(seed, 1))
		a := must.M1(agent.New(agent.Config{Features: 3, Seed: seed, Backend: backend.Go, Learner: learner.Learner{
			Belief: hyper.BayesianLinear{Features: 3}, NoiseVariance: 0.25, PriorVariance: 4,
		}}))
		var theta [4]float64 // of (x, 1) / 2, with variance 4
		for i := range theta {
			theta[i] = 2 * r.NormFloat64()
		}
		datum := func() (x []float32, y float32) {
			f := theta[3] / 2
			for i := range 3 {
				x = append(x, float32(r.NormFloat64()))
				f += theta[i] * float64(x[i]) / 2
			}
			return x, float32(f + noise*r.NormFloat64())
		}
		for range seed % 3 * 4 {
			x, y := datum()
			must.M(a.Add(x, y))
		}
		var xs [][]float32
		var ys []float32
		for range 10 {
			x, y := datum()
			xs, ys = append(xs, x), append(ys, y)
		}
		s := a.Snapshot()
		c := must.M1(s.Calibrate(xs, ys))
		s.Close()
		w.marginal = append(w.marginal, c.Marginal-c.ExpectedMarginal)
		w.joint = append(w.joint, c.Joint-c.ExpectedJoint)
		w.pit = append(w.pit, c.PIT...)
		w.expected += c.ExpectedJoint / float64(worlds)
	}
	return w
}

// deviations returns a mean in units of its standard error.
func deviations(x []float64) float64 {
	mean, sd := stat.MeanStdDev(x, nil)
	return mean / stat.StdErr(sd, float64(len(x)))
}

// A belief in worlds of its own prior is calibrated: marginal and joint densities are as expected, and a tenth of the
// responses falls into each tenth of the predicted distribution. With three times the noise it is not calibrated.
func TestCalibration(t *testing.T) {
	agent.NotInShort(t)
	const worlds = 80
	w := calibrated(t, 0.5, worlds)
	if m, j := deviations(w.marginal), deviations(w.joint); math.Abs(m) > 3.5 || math.Abs(j) > 3.5 {
		t.Errorf("marginal densities are %.1f standard errors off, joint ones %.1f", m, j)
	}
	t.Logf("marginal %.4f, joint %.4f of %.4f, tenths %v", stat.Mean(w.marginal, nil), stat.Mean(w.joint, nil), w.expected,
		len(w.pit))
	if w.expected < 0.02 {
		t.Errorf("expected joint density: got %v, want a belief in which responses depend on each other", w.expected)
	}
	counts := make([]float64, 10)
	for _, u := range w.pit {
		counts[min(int(10*u), 9)]++
	}
	// Responses of one world depend on each other, so that counts vary 4 times as much as counts of independent
	// responses.
	if low, high := slices.Min(counts), slices.Max(counts); low < 0.6*worlds || high > 1.4*worlds {
		t.Errorf("counts of tenths %v, want %d each", counts, worlds)
	}
	w = calibrated(t, 1.5, 40)
	if m, j := deviations(w.marginal), deviations(w.joint); m > -4 || j > -2 {
		t.Errorf("three times the noise: got deviations %.1f (marginal) and %.1f (joint), want below -4 and -2", m, j)
	}
}

// A belief in probabilities gets rewards of 0 and 1.
func TestCalibrationOfProbabilities(t *testing.T) {
	c := agent.Config{Features: 0, Backend: backend.Go, Learner: learner.Learner{Belief: armsModel(3, 10),
		Perturbation: -1,
		Train:        train.Config{Loss: train.LogisticLoss{}, Integrate: train.Sampled, Capacity: 200}}}
	a := must.M1(agent.New(c))
	s := a.Snapshot()
	defer s.Close()
	got := must.M1(s.Calibrate([][]float32{{0}, {0}, {0}, {0}}, []float32{1, 1, 1, 1}))
	for _, u := range got.PIT {
		if u < 0.3 {
			t.Errorf("PIT of a reward of 1: got %v, want at least 0.3", u)
		}
	}
	if !(got.Joint > got.ExpectedJoint) || !(got.Marginal < -0.4) {
		t.Errorf("four rewards of 1 in a row: got %+v, want a joint density above the expected one", got)
	}
	for want, err := range map[string]error{
		"the number of responses":   errOf(s.Calibrate([][]float32{{0}}, nil)),
		"not finite":                errOf(s.Calibrate([][]float32{{0}}, []float32{float32(math.NaN())})),
		"an arm from 0 to 2, got 7": errOf(s.Calibrate([][]float32{{7}}, []float32{1})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func errOf(_ agent.Calibration, err error) error { return err }
