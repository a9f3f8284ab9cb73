package offpolicy

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/janpfeifer/must"
)

// The log has four decisions between two actions. It takes either action with probability 1/2 in the first two
// decisions, and the first action with 1/5 in the others. The target takes the first action with 3/4. So the weights
// are 1.5 and 0.5, then 3.75 and 0.3125. The model predicts rewards 2 and 4: on average 2.5 under the target.
func four() []Sample {
	even, fifth, target, model := []float64{0.5, 0.5}, []float64{0.2, 0.8}, []float64{0.75, 0.25}, []float64{2, 4}
	return []Sample{
		must.M1(NewSample(0, 1, even, target, model)),
		must.M1(NewSample(1, 5, even, target, model)),
		must.M1(NewSample(0, 2, fifth, target, model)),
		must.M1(NewSample(1, 8, fifth, target, model)),
	}
}

// same reports whether two numbers are equal up to rounding.
func same(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(a), math.Abs(b)) }

// Terms and estimates equal those computed by hand.
func TestEstimatorsByHand(t *testing.T) {
	const sum = 1.5 + 0.5 + 3.75 + 0.3125
	snips := (1.5*1 + 0.5*5 + 3.75*2 + 0.3125*8) / sum
	for _, k := range []struct {
		e     Estimator
		name  string
		terms []float64
		blind float64
	}{
		{IPS{}, "ips", []float64{1.5, 2.5, 7.5, 2.5}, 0},
		{IPS{Clip: 2}, "ips, weights up to 2", []float64{1.5, 2.5, 4, 2.5}, 2 * 0.2 * 1.75 / 4},
		{SNIPS{}, "snips", []float64{
			snips + 4*1.5*(1-snips)/sum, snips + 4*0.5*(5-snips)/sum,
			snips + 4*3.75*(2-snips)/sum, snips + 4*0.3125*(8-snips)/sum}, 0},
		{DoublyRobust{}, "doubly-robust", []float64{2.5 - 1.5, 2.5 + 0.5, 2.5, 2.5 + 1.25}, 0},
		{Switch{Threshold: 1}, "switch, weights up to 1", []float64{2.5, 2.5 + 0.5, 2.5, 2.5 + 1.25},
			(2*0.75 + 2*0.75) / 4},
		{Switch{}, "switch, weights up to 10", []float64{1, 3, 2.5, 3.75}, 0},
	} {
		if k.e.String() != k.name {
			t.Errorf("want the name %v, got %v", k.name, k.e)
		}
		v := must.M1(newEvidence(four(), k.e))
		if !slices.EqualFunc(v.terms, k.terms, same) {
			t.Errorf("%v: terms %v, want %v", k.e, v.terms, k.terms)
		}
		got := must.M1(Evaluate(four(), k.e, Options{Least: 0.01}))
		mean := (k.terms[0] + k.terms[1] + k.terms[2] + k.terms[3]) / 4
		if !same(got.Value, mean) || !same(got.Blind, k.blind) {
			t.Errorf("%v: value %v, blind %v, want %v, %v", k.e, got.Value, got.Blind, mean, k.blind)
		}
		squares := 0.0
		for _, x := range k.terms {
			squares += (x - mean) * (x - mean)
		}
		if want := math.Sqrt(squares / 3 / 4); !same(got.StdErr, want) {
			t.Errorf("%v: standard error %v, want %v", k.e, got.StdErr, want)
		}
		if !(got.Lower < got.Value && got.Value < got.Upper) {
			t.Errorf("%v: got interval %v, want bounds on both sides of the value", k.e, got)
		}
	}
	if got := must.M1(Evaluate(four(), SNIPS{}, Options{Least: 0.01})); !same(got.Value, snips) {
		t.Errorf("snips is %v, want %v", got.Value, snips)
	}
}

// Kish's effective size and the largest weight equal those computed by hand.
func TestEffectiveSize(t *testing.T) {
	got := must.M1(Evaluate(four(), IPS{}, Options{Least: 0.01}))
	const sum, squares = 1.5 + 0.5 + 3.75 + 0.3125, 2.25 + 0.25 + 14.0625 + 0.09765625
	if !same(got.EffectiveSize, sum*sum/squares) || got.LargestWeight != 3.75 || got.Decisions != 4 {
		t.Errorf("got %+v, want the effective size, the largest weight 3.75 and 4 decisions", got)
	}
	if effectiveSize([]float64{0, 0}) != 0 {
		t.Error("no weights have an effective size")
	}
}

// If the target is the log's own policy, every estimator has the mean of the rewards, and all decisions count.
func TestOwnPolicy(t *testing.T) {
	var samples []Sample
	for i := range 200 {
		p := []float32{0.1, 0.2, 0.7}
		samples = append(samples, must.M1(NewSample(i%3, float64(i%7), p, p, []float32{0, 0, 0})))
	}
	mean := 0.0
	for i := range samples {
		mean += samples[i].reward / 200
	}
	for _, e := range []Estimator{IPS{}, SNIPS{}, DoublyRobust{}, Switch{}} {
		got := must.M1(Evaluate(samples, e, Options{}))
		if !same(got.Value, mean) || !same(got.EffectiveSize, 200) || !same(got.LargestWeight, 1) {
			t.Errorf("%v: %+v, want the mean %v", e, got, mean)
		}
	}
}

// Rewards in other units have the same interval in these units. For all estimators except IPS, the zero of the rewards
// does not matter.
func TestUnits(t *testing.T) {
	w := newWorld(1, gaussian)
	const scale, shift = 1e5, 3e5
	original := w.log(newRand(), 1000)
	moved := slices.Clone(original)
	for i := range moved {
		s := &moved[i]
		s.reward, s.predicted, s.expected = shift+scale*s.reward, shift+scale*s.predicted, shift+scale*s.expected
	}
	for _, e := range []Estimator{SNIPS{}, DoublyRobust{}} {
		a, b := must.M1(Evaluate(original, e, Options{})), must.M1(Evaluate(moved, e, Options{}))
		for _, x := range [][2]float64{{a.Value, b.Value}, {a.Lower, b.Lower}, {a.Upper, b.Upper}} {
			if math.Abs(shift+scale*x[0]-x[1]) > 1e-8*shift {
				t.Errorf("%v: got %v and %v for the same rewards in other units", e, a, b)
				break
			}
		}
	}
}

// The mean value over logs that differ only in one decision is exact: both actions of the decision, weighted by their
// probabilities in the log, have the target's mean reward. Only SNIPS is biased.
func TestUnbiasedByEnumeration(t *testing.T) {
	logged, target, model := []float64{0.1, 0.3, 0.6}, []float64{0.5, 0.2, 0.3}, []float64{3, 0, 7}
	rewards := []float64{2, -1, 5}
	want := 0.5*2 - 0.2 + 0.3*5
	for _, e := range []Estimator{IPS{}, DoublyRobust{}} {
		mean := 0.0
		for a, q := range logged {
			for b, r := range logged {
				samples := []Sample{must.M1(NewSample(a, rewards[a], logged, target, model)),
					must.M1(NewSample(b, rewards[b], logged, target, model))}
				mean += q * r * must.M1(newEvidence(samples, e)).value
			}
		}
		if !same(mean, want) {
			t.Errorf("%v: mean %v, want %v", e, mean, want)
		}
	}
}

// A log with only the probabilities of the taken actions has the same estimates as the whole log, and a similar Blind.
func TestPartial(t *testing.T) {
	w := newWorld(0.5, bernoulli)
	whole, partial := w.log(newRand(), 5000), w.partial().log(newRand(), 5000)
	for _, e := range estimators {
		a, b := must.M1(Evaluate(whole, e, Options{})), must.M1(Evaluate(partial, e, Options{}))
		if !same(a.Value, b.Value) || !same(a.StdErr, b.StdErr) || !same(a.EffectiveSize, b.EffectiveSize) {
			t.Errorf("%v: got %+v from the whole log, %+v from single probabilities, want equal estimates", e, a, b)
		}
		if math.Abs(a.Blind-b.Blind) > 0.05 || math.Abs(math.Log(a.Freedom/b.Freedom)) > 0.3 {
			t.Errorf("%v: blind %v and %v, freedom %v and %v", e, a.Blind, b.Blind, a.Freedom, b.Freedom)
		}
	}
}

func TestEvaluateBadInput(t *testing.T) {
	without := slices.Clone(four())
	without[2].modelled = false
	for _, k := range []struct {
		samples []Sample
		e       Estimator
		o       Options
		want    string
	}{
		{nil, IPS{}, Options{}, "too few decisions carry the estimate: got 0, and a standard error needs two; log more decisions"},
		{four()[:1], IPS{}, Options{},
			"too few decisions carry the estimate: got 1, and a standard error needs two; log more decisions"},
		{make([]Sample, 3), IPS{}, Options{}, "decision 0 is a zero Sample: make it with NewSample or NewPartial"},
		{four(), nil, Options{}, "the estimator is missing"},
		{four(), &IPS{}, Options{}, "the estimator is a pointer, *offpolicy.IPS; pass the value, offpolicy.IPS"},
		{four(), IPS{Clip: -1}, Options{}, "IPS.Clip must be finite and not negative, got -1"},
		{four(), IPS{Clip: math.NaN()}, Options{}, "IPS.Clip must be finite and not negative, got NaN"},
		{four(), Switch{Threshold: -2}, Options{}, "Switch.Threshold must be finite and not negative, got -2"},
		{without, DoublyRobust{}, Options{}, "decision 2 has no predictions of a reward model"},
		{without, Switch{}, Options{}, "decision 2 has no predictions of a reward model"},
		{four(), IPS{}, Options{Level: 1}, "Options.Level must be between 0 and 1, got 1"},
		{four(), IPS{}, Options{Level: math.NaN()}, "Options.Level must be between 0 and 1, got NaN"},
		{four(), IPS{}, Options{Least: -1}, "Options.Least must be positive and finite, got -1"},
		{four(), IPS{}, Options{Unsupported: 2}, "Options.Unsupported must be a probability above 0, got 2"},
	} {
		if _, err := Evaluate(k.samples, k.e, k.o); err == nil || err.Error() != k.want {
			t.Errorf("error is %v, want %v", err, k.want)
		}
	}
	if _, err := Evaluate(without, DoublyRobust{}, Options{}); !errors.Is(err, ErrNoModel) {
		t.Error(err)
	}
}

// Rewards whose squares overflow are refused, and small rewards are not.
func TestExtremeRewards(t *testing.T) {
	for _, scale := range []float64{1e-150, 1e-60, 1e60, 1e140} {
		samples := newWorld(1, gaussian).log(newRand(), 1000)
		for i := range samples {
			samples[i].reward *= scale
		}
		got, err := Evaluate(samples, SNIPS{}, Options{})
		if err != nil || !(got.Lower < got.Value && got.Value < got.Upper) {
			t.Errorf("scale %v: got %v, error %v, want bounds on both sides of the value", scale, got, err)
		}
	}
	samples := newWorld(1, gaussian).log(newRand(), 1000)
	for i := range samples {
		samples[i].reward *= 1e200
	}
	if got, err := Evaluate(samples, SNIPS{}, Options{}); err == nil {
		t.Errorf("got %v, want an error", fmt.Sprint(got))
	}
}

// The degrees of freedom are at most the degrees of freedom of the terms in the log. Here model and rewards are rarely
// above 0, and then together; two independent numbers would not be.
func TestFreedomOfWhatWasSeen(t *testing.T) {
	p := []float64{0.5, 0.5}
	var samples []Sample
	for i := range 1000 {
		rare := 0.0
		if i%25 == 0 {
			rare = 1
		}
		samples = append(samples, must.M1(NewSample(i%2, 2*rare, p, p, []float64{rare, rare})))
	}
	const kurtosis = (0.04*0.96*0.96*0.96*0.96 + 0.96*0.04*0.04*0.04*0.04) / (0.04 * 0.96 * 0.04 * 0.96)
	if v := must.M1(newEvidence(samples, DoublyRobust{})); math.Abs(v.freedom-2000/(kurtosis-1)) > 1e-9 {
		t.Errorf("freedom is %v, want %v", v.freedom, 2000/(kurtosis-1))
	}
}
