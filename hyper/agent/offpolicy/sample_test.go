package offpolicy

import (
	"math"
	"testing"

	"github.com/janpfeifer/must"
)

func TestNewSample(t *testing.T) {
	logged, target, model := []float32{0.5, 0.5, 0}, []float32{0.25, 0.5, 0.25}, []float32{1, 2, 4}
	s := must.M1(NewSample(1, 3, logged, target, model))
	if s.weight() != 1 || s.weights[0] != 0.5 || s.unsupported != 0.25 || s.predicted != 2 || s.expected != 2.25 {
		t.Errorf("sample: got %+v, want weight 1, unsupported 0.25, predicted 2, expected 2.25", s)
	}
	logged[0], target[0] = 9, 9
	if s.logged[0] != 0.5 || s.weights[0] != 0.5 {
		t.Error("the sample shares the caller's vectors, want copies")
	}
	p := must.M1(NewPartial(1, 3, 0.125, []float64{0.25, 0.5, 0.25}, nil))
	if p.weight() != 4 || p.modelled {
		t.Errorf("partial sample: got %+v, want weight 4 and no model", p)
	}
}

func TestNewSampleBadInput(t *testing.T) {
	good, nan, inf := []float64{0.5, 0.5}, math.NaN(), math.Inf(1)
	for _, k := range []struct {
		action                    int
		reward                    float64
		logged, target, predicted []float64
		want                      string
	}{
		{0, 1, nil, nil, nil, "target is empty: want the probability of each action"},
		{0, 1, good, []float64{1}, nil, "target has 1 probabilities and logged 2: want one for each action in both"},
		{0, 1, good, good, []float64{},
			"predicted has 0 rewards for 2 actions: want one for each, or nil without a reward model"},
		{2, 1, good, good, nil, "action is 2 of 2 actions: want one from 0 to 1"},
		{-1, 1, good, good, nil, "action is -1 of 2 actions: want one from 0 to 1"},
		{0, nan, good, good, nil,
			"reward is NaN: want a finite number; leave out decisions whose reward is not known"},
		{0, inf, good, good, nil,
			"reward is +Inf: want a finite number; leave out decisions whose reward is not known"},
		{0, 1, []float64{0.5, 0.4}, good, nil,
			"logged probabilities sum to 0.9: want the probabilities of all actions, which sum to 1"},
		{0, 1, good, []float64{nan, 1}, nil, "target probability of action 0 is NaN: want one from 0 to 1"},
		{0, 1, good, []float64{-0.5, 1.5}, nil, "target probability of action 0 is -0.5: want one from 0 to 1"},
		{0, 1, []float64{0, 1}, good, nil, "logged gives action 0, which was taken, probability 0: log the " +
			"probabilities that the action was drawn from"},
		{1, 1, []float64{1e-320, 1}, good, nil,
			"logged probability of action 0 is 1e-320, too small to divide by: want 0 where the log never takes it"},
		{0, 1, good, good, []float64{1, nan}, "predicted reward of action 1 is NaN: want a finite number"},
	} {
		if _, err := NewSample(k.action, k.reward, k.logged, k.target, k.predicted); err == nil || err.Error() != k.want {
			t.Errorf("error is %v, want %v", err, k.want)
		}
	}
}

func TestNewPartialBadInput(t *testing.T) {
	good := []float64{0.5, 0.5}
	for logged, want := range map[float64]string{
		0:          "logged probability of action 1, which was taken, is 0: want one above 0, up to 1",
		1.5:        "logged probability of action 1, which was taken, is 1.5: want one above 0, up to 1",
		1e-320:     "logged probability of action 1, which was taken, is 1e-320: want one above 0, up to 1",
		math.NaN(): "logged probability of action 1, which was taken, is NaN: want one above 0, up to 1",
	} {
		if _, err := NewPartial(1, 1, logged, good, nil); err == nil || err.Error() != want {
			t.Errorf("error is %v, want %v", err, want)
		}
	}
	if _, err := NewPartial(2, 1, 0.5, good, nil); err == nil {
		t.Error("NewPartial with action 2 of 2: got no error")
	}
}
