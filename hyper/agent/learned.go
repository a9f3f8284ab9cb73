package agent

import (
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// What some agents learn is kept in plain Go, block by block (train.HostPosterior): a reward then changes the block of
// its arm, and snapshots share the others. The tensors of these parts of the state are made when a file is written, or
// a program called.

// hostLearning is how an agent learns in plain Go.
type hostLearning struct {
	train.HostTrainer
	shapes map[string]shapes.Shape // of its parts of the state
}

// hostLearner notes that the agent learns in plain Go where all of its decisions are made so too.
func (a *form) hostLearner(s *snapshot) error {
	h, ok := a.config.Learner.OnHost()
	if !ok || a.hostBelief == nil || a.hostPolicy == nil {
		return nil
	}
	a.learner = &hostLearning{h, map[string]shapes.Shape{}}
	for _, name := range h.Names() {
		a.learner.shapes[name] = s.state[a.place(name)].Shape().Clone()
	}
	return a.absorb(s)
}

// absorb takes what is kept in plain Go out of the tensors of a whole state, where the agent learns so.
func (a *form) absorb(s *snapshot) error {
	if a.learner == nil {
		return nil
	}
	params, err := a.fixedParams(s, nil)
	if err != nil {
		return err
	}
	learned, err := a.learner.Posterior(params, func(name string, read func([]float64)) error {
		return tensors.ConstFlatData(s.state[a.place(name)].Tensor, read)
	})
	if err != nil {
		return err
	}
	s.learns(learned)
	for _, name := range a.learner.Names() {
		i := a.place(name)
		s.state[i].drop()
		s.state[i] = nil
	}
	return nil
}

// learns gives a snapshot what it holds in plain Go, in the place of what it held; nil is nothing.
func (s *snapshot) learns(p *train.HostPosterior) {
	if s.learned != nil {
		s.learned.Drop()
	}
	s.learned, s.host = p, new(host)
}

// held is a posterior that is held once more; nil is none.
func held(p *train.HostPosterior) *train.HostPosterior {
	if p == nil {
		return nil
	}
	return p.Hold()
}

// wholeOf is a snapshot with all of its tensors, those of what is kept in plain Go too; the caller drops it. places
// are of its tensors in Agent.names; nil is all in order.
func (a *form) wholeOf(s *snapshot, places []int) (*snapshot, error) {
	whole := s.replaced(nil, nil)
	for i, t := range whole.state {
		if t != nil {
			continue
		}
		place := i
		if places != nil {
			place = places[i]
		}
		name := a.names[place]
		made := tensors.FromShape(a.learner.shapes[name])
		whole.state[i] = (&shared{Tensor: made}).hold()
		if err := tensors.MutableFlatData(made, func(x []float64) { s.learned.Write(name, x) }); err != nil {
			whole.drop()
			return nil, err
		}
	}
	return whole, nil
}

// taught is a snapshot with a datum more, learned in plain Go.
func (s *snapshot) taught(x []float32, y, weight float32) (*snapshot, error) {
	return s.learnedNext(s.learned.Observe(x, y, weight))
}

// learnedNext is a snapshot that holds what was learned in plain Go, if that is finite.
func (s *snapshot) learnedNext(learned *train.HostPosterior, ok bool) (*snapshot, error) {
	if !ok {
		return nil, errDiverged
	}
	next := s.replaced(nil, nil)
	next.learns(learned)
	return next, nil
}
