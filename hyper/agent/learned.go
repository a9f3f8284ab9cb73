package agent

import (
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Some agents keep what they learn in plain Go, in one block per arm (train.HostPosterior). A reward then changes only
// the block of its arm, and snapshots share the other blocks. The tensors of these parts of the state are made when a
// file is written or a program is called.

// hostLearning trains an agent in plain Go.
type hostLearning struct {
	train.HostTrainer
	shapes map[train.Entry]shapes.Shape // shapes of the parts of the state that it keeps, by name
}

// hostLearner makes the agent learn in plain Go, if it also makes all of its decisions in plain Go.
func (a *form) hostLearner(s *snapshot) error {
	h, ok := a.config.Learner.OnHost()
	if !ok || a.hostBelief == nil || a.hostPolicy == nil {
		return nil
	}
	a.learner = &hostLearning{h, map[train.Entry]shapes.Shape{}}
	for _, name := range h.Names() {
		a.learner.shapes[name] = s.state[a.place(name)].Shape().Clone()
	}
	return a.absorb(s)
}

// absorb moves the parts that are learned in plain Go from the tensors of a whole state to its posterior. It does
// nothing if the agent does not learn in plain Go.
func (a *form) absorb(s *snapshot) error {
	if a.learner == nil {
		return nil
	}
	params, err := a.fixedParams(s, nil)
	if err != nil {
		return err
	}
	learned, err := a.learner.Posterior(params, func(name train.Entry, read func([]float64)) error {
		return tensors.ConstFlatData(s.state[a.place(name)].Tensor, read)
	})
	if err != nil {
		return err
	}
	s.setLearned(learned)
	for _, name := range a.learner.Names() {
		i := a.place(name)
		s.state[i].drop()
		s.state[i] = nil
	}
	return nil
}

// setLearned replaces the posterior that a snapshot holds; nil means none.
func (s *snapshot) setLearned(p *train.HostPosterior) {
	s.learned.Drop()
	s.learned, s.host = p, new(host)
}

// wholeOf returns a snapshot with all tensors, including the parts that are kept in plain Go; the caller drops it.
// places has the index in form.names of each tensor; nil means all tensors in order.
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

// learnedNext returns a snapshot that holds a new posterior; the error is errDiverged if ok is false.
func (s *snapshot) learnedNext(learned *train.HostPosterior, ok bool) (*snapshot, error) {
	if !ok {
		return nil, errDiverged
	}
	next := s.replaced(nil, nil)
	next.setLearned(learned)
	return next, nil
}
