package offpolicy

import (
	"errors"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
)

// repeated returns n decisions in turns, with rewards 0 and 1 in turns of another length.
func repeated(n int, turn func(i int, reward float64) Sample) (samples []Sample) {
	for i := range n {
		samples = append(samples, turn(i, float64(i/7%2)))
	}
	return samples
}

// A target that takes actions that the log never takes is refused, unless it takes them rarely.
func TestNoOverlap(t *testing.T) {
	for target, refused := range map[float64]bool{0: false, 0.0009: false, 0.002: true, 1: true} {
		samples := repeated(200, func(i int, reward float64) Sample {
			return must.M1(NewSample(i%2, reward, []float64{0.5, 0.5, 0}, []float64{(1 - target) / 2, (1 - target) / 2, target},
				[]float64{0, 0, 0}))
		})
		for _, e := range []Estimator{IPS{}, IPS{Clip: 1}, SNIPS{}, DoublyRobust{}, Switch{}} {
			got, err := Evaluate(samples, e, Options{})
			if errors.Is(err, ErrNoOverlap) != refused || !refused && err != nil {
				t.Errorf("%v, target %v on the third action: got error %v", e, target, err)
			}
			if !refused && !same(got.Unsupported, target) {
				t.Errorf("unsupported is %v, want %v", got.Unsupported, target)
			}
			if _, err := Evaluate(samples, e, Options{Unsupported: 1}); errors.Is(err, ErrNoOverlap) {
				t.Error("allowed unsupported action: got error", err)
			}
		}
	}
}

// Logged probabilities from which the actions were not drawn are refused: here as if their order were changed, or as if
// the most likely action were logged. This holds for whole logs and for partial ones.
func TestWrongProbabilities(t *testing.T) {
	for name, logged := range map[string][]float64{"changed order": {0.8, 0.2}, "too sure": {0.05, 0.95}} {
		whole := repeated(1000, func(i int, reward float64) Sample {
			return must.M1(NewSample(min(i%5, 1), reward, logged, []float64{1, 0}, nil)) // truly 0.2 and 0.8
		})
		partial := repeated(1000, func(i int, reward float64) Sample {
			a := min(i%5, 1)
			return must.M1(NewPartial(a, reward, logged[a], []float64{1, 0}, nil))
		})
		for _, samples := range [][]Sample{whole, partial} {
			if _, err := Evaluate(samples, SNIPS{}, Options{}); !errors.Is(err, ErrMeanWeight) {
				t.Errorf("%s: got error %v, want ErrMeanWeight", name, err)
			}
			if _, err := Evaluate(samples, IPS{Clip: 3}, Options{}); !errors.Is(err, ErrMeanWeight) {
				t.Errorf("%s, clipped: got error %v, want ErrMeanWeight", name, err)
			}
		}
	}
}

// Correct probabilities are refused in one of 1,000 logs, even if the mean weight is very skewed: here one weight of
// 200 occurs on average.
func TestRightProbabilities(t *testing.T) {
	w, r, refused := newWorld(0.05, bernoulli), newRand(), 0
	for range 2000 {
		v := must.M1(newEvidence(w.log(r, 400), SNIPS{}))
		if v.checkMeanWeight() != nil {
			refused++
		}
	}
	if refused > 6 {
		t.Errorf("%d of 2,000 right logs are refused, want some 2", refused)
	}
}

// There is no interval if there are few heavy weights, if all terms are equal, or if no action of the target occurs.
func TestTooFew(t *testing.T) {
	heavy := func(i int, reward float64) Sample {
		return must.M1(NewSample(min(i%100, 1), reward, []float64{0.01, 0.99}, []float64{1, 0}, nil))
	}
	equal := func(i int, _ float64) Sample {
		return must.M1(NewSample(i%2, 0.1, []float64{0.5, 0.5}, []float64{0.4, 0.6}, nil))
	}
	undone := func(int, float64) Sample {
		return must.M1(NewSample(1, 1, []float64{0.001, 0.999}, []float64{1, 0}, nil))
	}
	for name, turn := range map[string]func(int, float64) Sample{"heavy": heavy, "equal": equal, "undone": undone} {
		_, err := Evaluate(repeated(1000, turn), SNIPS{}, Options{})
		if !errors.Is(err, ErrTooFew) {
			t.Errorf("%s: got error %v, want ErrTooFew", name, err)
		} else if !strings.Contains(err.Error(), "log more decisions") {
			t.Errorf("%s: error %q has no advice", name, err)
		}
	}
	if _, err := Evaluate(repeated(10000, heavy), SNIPS{}, Options{}); err != nil {
		t.Error("100 heavy weights: got error:", err)
	}
}
