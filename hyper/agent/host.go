package agent

import (
	"fmt"
	"strings"
	"sync"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Decisions are made in plain Go where the belief is hyper.Hosted and the Policy explore.Hosted: a program takes longer
// to call than they take. Others, and some of many actions, are made by programs.

// host is what a snapshot believes, in plain Go, when it is first asked for.
type host struct {
	once   sync.Once
	sample hyper.HostSample // nil where there is none
	err    error
}

// hosted returns how functions of a belief are drawn in plain Go, or nil.
func (a *Agent) hosted(belief *snapshot) (hyper.HostSample, error) {
	b, ok := a.config.Learner.Belief.(hyper.Hosted)
	if _, also := a.config.Learner.Policy.(explore.Hosted); !ok || !also || a.programsOnly {
		return nil, nil
	}
	h := belief.host
	h.once.Do(func() {
		var p hyper.HostParams
		if p, h.err = a.hostParams(belief); h.err == nil {
			h.sample = b.OnHost(p)
		}
	})
	return h.sample, h.err
}

// hostParams copies the parameters of a belief.
func (a *Agent) hostParams(belief *snapshot) (hyper.HostParams, error) {
	p, responses := hyper.HostParams{Fixed: map[string][]float32{}}, map[string][]float64{}
	for i, place := range a.read { // in the order of names, nu.0 before nu.1
		name := a.names[place]
		if strings.HasPrefix(name, "response.") {
			x, err := numbers(belief.state[i].Tensor)
			if err != nil {
				return p, err
			}
			responses[name] = x
		}
		fixed, is := strings.CutPrefix(name, "fixed.")
		if !is && !strings.HasPrefix(name, "nu.") {
			continue
		}
		x, err := a.fixed.narrow(belief.state[i], is)
		if err != nil {
			return p, err
		}
		if is {
			p.Fixed[fixed] = x
		} else {
			p.Nu = append(p.Nu, x)
		}
	}
	return train.Trainer{Belief: a.config.Learner.Belief, Config: a.config.Learner.Train}.HostParams(p, responses), nil
}

// fixedParts are copies of the parts of the state that do not change.
type fixedParts struct {
	mu  sync.Mutex
	all map[*shared][]float32
}

// narrow copies a tensor in single precision; one that is kept once for all snapshots.
func (f *fixedParts) narrow(t *shared, keep bool) ([]float32, error) {
	if !keep {
		return narrow(t.Tensor)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if x, ok := f.all[t]; ok {
		return x, nil
	}
	x, err := narrow(t.Tensor)
	if err != nil {
		return nil, err
	}
	if f.all == nil {
		f.all = map[*shared][]float32{}
	}
	f.all[t] = x
	return x, nil
}

func narrow(t *tensors.Tensor) ([]float32, error) {
	if t.DType() == dtypes.Float32 {
		return tensors.CopyFlatData[float32](t)
	}
	var out []float32
	err := tensors.ConstFlatData(t, func(wide []float64) {
		out = make([]float32, len(wide))
		for i, v := range wide {
			out[i] = float32(v)
		}
	})
	return out, err
}

// decideOnHost is decide in plain Go; it returns false where a program must decide.
func (a *Agent) decideOnHost(belief *snapshot, actions [][]float32, number uint64) (d Decision, ok bool, err error) {
	sample, err := a.hosted(belief)
	if sample == nil || err != nil {
		return d, false, err
	}
	inputs := len(actions)
	if actions == nil {
		inputs = a.arms
	}
	policy := a.config.Learner.Policy.(explore.Hosted)
	stream := rng.NewHost(a.config.Seed).At(uint32(number)).Named("act")
	values := make([]float32, policy.Samples()*inputs)
	if !sample(stream, policy.Samples(), actions, values) {
		return d, false, nil
	}
	for _, v := range values {
		if notFinite(v) {
			return d, false, errPredictions
		}
	}
	p, action := policy.DecideOnHost(values, inputs, stream.Named("policy"), int32(number))
	var words [2]uint32
	stream.Named("floor").Bits(words[:])
	action, p = floored(action, p, a.floor(), words[:])
	return Decision{Action: action, Probabilities: p, Scheme: a.scheme()}, true, nil
}

// errPredictions is the ErrNotFinite of decisions.
var errPredictions = fmt.Errorf("predictions are %w: an input is too large, or training has diverged; "+
	"make an agent with a smaller Learner.StepSize, or a Learner.Clip", ErrNotFinite)
