package lab

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// WithLearner returns the experiment with one more agent: a learner of the catalogue, with settings of its own,
// which are a JSON object of keys and values.
func (x Experiment) WithLearner(name, kind string, settings json.RawMessage) (Experiment, error) {
	if _, err := catalog.Find(kind); err != nil {
		return x, err
	}
	if _, taken := x.Agents[name]; taken {
		return x, fmt.Errorf("experiment %s already has an agent %s; choose another name", x.Name, name)
	}
	s, err := x.New(kind)
	if err != nil {
		return x, err
	}
	if err := catalog.SetValues(s, settings); err != nil {
		return x, err
	}
	x.usual, x.kinds = cloned(x.usual), cloned(x.kinds)
	x.usual[name], x.kinds[name] = s, kind
	return x, nil
}

// cloned returns a copy of a map. The copy of nil is an empty map.
func cloned[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return maps.Clone(m)
}

// Handover returns the learner of a setting, as it is simulated for the given number of periods, and the number of
// features of an input. Package agent takes both. The number is 0 for arms, or the number of arms if the learner gets
// arms as one-hot vectors. A yardstick has no learner; the error says so.
func (s *Setting) Handover(periods int) (l learner.Learner, features int, err error) {
	maker, ok := s.Learner.(catalog.LearnerMaker)
	if !ok {
		return l, 0, fmt.Errorf("%T is a yardstick for simulations, not a learner: package agent cannot use "+
			"it", s.Learner)
	}
	if err := s.Validate(); err != nil {
		return l, 0, err
	}
	p := s.World.Problem()
	l, features = maker.Learner(p, periods), p.Features
	if b, ok := l.Belief.(hyper.FixedInputs); ok && b.Inputs() > 0 {
		features = b.Inputs() // arms as one-hot vectors
	}
	return l, features, nil
}
