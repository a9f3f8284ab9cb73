package agent

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
)

// slots returns the number of arms, including arms that are not offered; it returns 0 if actions are not arms.
func (f *form) slots() int {
	switch e := f.config.Encoding; {
	case e != nil:
		return e.Arms
	case f.config.Features == 0:
		return f.arms
	}
	return 0
}

// AddsArms reports whether arms can be added to an agent of the Config: see [Agent.ChangeArms].
func (c Config) AddsArms() bool {
	_, ok := c.withDefaults().withArms(1)
	return ok
}

// withArms returns the Config with n arms; ok is false if its arms have no separate beliefs.
func (c Config) withArms(n int) (wider Config, ok bool) {
	if e := c.Encoding; e != nil {
		b, is := c.Learner.Belief.(hyper.BayesianLinear)
		if !is || !b.Numbered || e.Code != AsNumber || e.Arms != max(b.Blocks, 1) {
			return c, false
		}
		own := *e
		own.Arms, b.Blocks = n, n
		c.Encoding, c.Learner.Belief = &own, b
		return c, true
	}
	of := func(n int) hyper.Belief { return Config{}.Arms(n).withDefaults().Learner.Belief }
	m, _ := c.Learner.Belief.(hyper.Model)
	table, is := m.Base.(base.Tabular)
	if !is || c.Features > 0 || table.Arms < 1 || !reflect.DeepEqual(c.Learner.Belief, of(table.Arms)) {
		return c, false
	}
	c.Learner.Belief = of(n)
	return c, true
}

// rebuilt returns a form made from the same Config whose arms have become set in steps, and its initial state.
func (f *form) rebuilt(set ArmSet, steps []int) (*form, *snapshot, error) {
	out, s, err := newForm(f.made, f.backend)
	if err != nil {
		return nil, nil, err
	}
	out.set = newArms(out.slots())
	for _, n := range steps {
		c, ok := out.config.withArms(n)
		if !ok || n > len(set.Like) || n <= out.slots() {
			s.drop()
			return nil, nil, fmt.Errorf("%d arms after %d, of %T", n, out.slots(), f.config.Learner.Belief)
		}
		wider, fresh, err := newForm(c, f.backend)
		if err != nil {
			s.drop()
			return nil, nil, err
		}
		next, err := out.widened(s, wider, fresh, set.Like[:n])
		s.drop()
		fresh.drop()
		if err != nil {
			return nil, nil, err
		}
		out, s = wider, next
	}
	out.made, out.steps, out.reader = f.made, steps, f.reader
	if len(set.Like) > 0 {
		out.set = set
	}
	return out, s, nil
}

// widened converts the state s to a form with more arms. fresh is the initial state of that form. Existing arms keep
// their parts of s. A new arm gets the parts of the arm in its like entry, or the parts of fresh.
func (f *form) widened(s *snapshot, wider *form, fresh *snapshot, like []int) (*snapshot, error) {
	before, err := f.wholeOf(s, nil)
	if err != nil {
		return nil, err
	}
	defer before.drop()
	more, err := wider.wholeOf(fresh, nil)
	if err != nil {
		return nil, err
	}
	defer more.drop()
	next := before.replaced(nil, nil)
	next.setLearned(nil)
	for i, name := range f.names {
		was, is := before.state[i].Tensor, more.state[i].Tensor
		if name.Replayed() || was.Shape().Equal(is.Shape()) {
			continue
		}
		t, err := withParts(was, is, f.slots(), like)
		if err != nil {
			next.drop()
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		next.state[i].drop()
		next.state[i] = (&shared{Tensor: t}).hold()
	}
	if err := errors.Join(wider.absorb(next), next.upload(f.backend)); err != nil {
		next.drop()
		return nil, err
	}
	return next, nil
}

// withParts returns a tensor of the shape of fresh with the parts of n arms from was. The parts lie side by side along
// one axis.
func withParts(was, fresh *tensors.Tensor, n int, like []int) (*tensors.Tensor, error) {
	axis, outer := -1, 1
	for i, size := range was.Shape().Dimensions {
		more := fresh.Shape().Dim(i)
		if size != more && axis < 0 && size%n == 0 && size/n*len(like) == more {
			axis = i
		} else if size != more {
			return nil, fmt.Errorf("arms have no parts of their own in %s and %s", was.Shape(), fresh.Shape())
		}
		if axis < 0 {
			outer *= size
		}
	}
	out := tensors.FromShape(shapes.Make(fresh.DType(), fresh.Shape().Dimensions...))
	var inner, last error
	err := was.ConstBytes(func(old []byte) {
		inner = fresh.ConstBytes(func(more []byte) {
			last = out.MutableBytes(func(data []byte) {
				part, all := len(old)/outer/n, len(data)/outer
				for o := range outer {
					own, own0 := data[o*all:(o+1)*all], old[o*n*part:(o+1)*n*part]
					copy(own, own0)
					for arm := n; arm < len(like); arm++ {
						from := more[o*all+arm*part:]
						if like[arm] != None {
							from = own0[like[arm]*part:]
						}
						copy(own[arm*part:(arm+1)*part], from)
					}
				}
			})
		})
	})
	return out, errors.Join(err, inner, last)
}
