package agent

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/promoted"
	"github.com/hypermodels/hypermodels/hyper/rng"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// If the belief is hyper.Hosted, samples are drawn in plain Go. If the Policy is also explore.Hosted, decisions are
// made in plain Go too. This takes less time than calling a program. Programs do the remaining work, and some large
// samples.

// host holds the belief of a snapshot in plain Go. It is made when it is first needed.
type host struct {
	once      sync.Once
	sample    hyper.HostSample          // nil if functions are not drawn in plain Go
	normals   hyper.HostNormals         // nil if values have no normal distribution
	responses map[train.Entry][]float64 // see form.responses
	err       error
}

// hostParts sets the belief and the policy that work in plain Go.
func (a *form) hostParts() {
	if b, ok := a.config.Learner.Belief.(hyper.Hosted); ok && !promoted.Has[hyper.Hosted](b) {
		a.hostBelief = b
	}
	p, ok := a.config.Learner.Policy.(explore.Hosted)
	if !ok || promoted.Has[explore.Hosted](p) {
		return
	}
	a.hostPolicy, a.hostLinks = p, a.config.Learner.Links()
}

// hosted returns the belief of a snapshot in plain Go; its sample is nil if programs must draw the functions.
func (a *form) hosted(belief *snapshot) *host {
	if a.hostBelief == nil {
		return &host{}
	}
	h := belief.host
	h.once.Do(func() {
		if belief.learned != nil {
			h.sample, h.responses = belief.learned.Sample(), belief.learned.Responses()
			h.normals = belief.learned.Normals()
			return
		}
		var p hyper.HostParams
		if p, h.responses, h.err = a.hostParams(belief); h.err == nil {
			h.sample = a.hostBelief.OnHost(a.trainer().HostParams(p, h.responses))
		}
	})
	return h
}

func (a *form) trainer() train.Trainer {
	return train.Trainer{Belief: a.config.Learner.Belief, Config: a.config.Learner.Train}
}

// sampleOnHost draws n functions from a belief; ok is false if a program must draw them.
func (a *form) sampleOnHost(belief *snapshot, x [][]float32, n int, number uint32) (values []float32, ok bool,
	err error) {
	h := a.hosted(belief)
	if h.sample == nil || h.err != nil {
		return nil, false, h.err
	}
	values = make([]float32, n*a.inputsOf(x))
	stream := rng.NewHost(a.seed()).At(number).Named("act").Named("sample")
	if !h.sample(stream, n, x, values) || !a.trainer().HostResponses(h.responses, values) {
		return nil, false, nil
	}
	return values, true, nil
}

// inputsOf returns the number of inputs; nil means all arms.
func (a *form) inputsOf(x [][]float32) int {
	if x == nil {
		return a.arms
	}
	return len(x)
}

// hostParams copies the parameters of a belief, and its statistics of responses.
func (a *form) hostParams(belief *snapshot) (p hyper.HostParams, responses map[train.Entry][]float64, err error) {
	if p, err = a.fixedParams(belief, a.read); err != nil {
		return p, nil, err
	}
	for i, place := range a.read { // in the order of names, nu.0 before nu.1
		if !a.names[place].Nu() {
			continue
		}
		x, err := narrow(belief.state[i].Tensor)
		if err != nil {
			return p, nil, err
		}
		p.Nu = append(p.Nu, x)
	}
	responses, err = a.responses(belief)
	return p, responses, err
}

// responses returns the statistics of the responses, by the name of the part of the state: see train.Trainer's
// HostResponses.
func (a *form) responses(belief *snapshot) (map[train.Entry][]float64, error) {
	if belief.learned != nil {
		return belief.learned.Responses(), nil
	}
	out := map[train.Entry][]float64{}
	for i, place := range a.read {
		if name := a.names[place]; name.Responses() {
			x, err := numbers(belief.state[i].Tensor)
			if err != nil {
				return nil, err
			}
			out[name] = x
		}
	}
	return out, nil
}

// fixedParams returns the parameters that never change. places has the index in form.names of each tensor of the
// snapshot; nil means all tensors in order.
func (a *form) fixedParams(s *snapshot, places []int) (hyper.HostParams, error) {
	p := hyper.HostParams{Fixed: map[string][]float32{}, Compiled: a.backend.Name() == "xla"}
	for i, t := range s.state {
		place := i
		if places != nil {
			place = places[i]
		}
		if name, is := a.names[place].Fixed(); is {
			x, err := a.fixed.narrow(t)
			if err != nil {
				return p, err
			}
			p.Fixed[name] = x
		}
	}
	return p, nil
}

// fixedParts caches copies of the parts of the state that never change.
type fixedParts struct {
	mu  sync.Mutex
	all map[*shared][]float32
}

// mostFixed is the largest number of cached parts. A belief has at most this number of parts that never change.
const mostFixed = 16

// narrow returns a copy of a tensor in single precision, which all snapshots share.
func (f *fixedParts) narrow(t *shared) ([]float32, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if x, ok := f.all[t]; ok {
		return x, nil
	}
	x, err := narrow(t.Tensor)
	if err != nil {
		return nil, err
	}
	if f.all == nil || len(f.all) > mostFixed { // it holds parts of beliefs from before a restart
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

// decideOnHost is decide in plain Go; ok is false if a program must decide.
func (a *form) decideOnHost(belief *snapshot, actions [][]float32, number uint64) (d Decision, ok bool, err error) {
	h := a.hosted(belief)
	policy := a.hostPolicy
	if h.sample == nil || h.err != nil || policy == nil {
		return d, false, h.err
	}
	inputs := a.inputsOf(actions)
	stream := rng.NewHost(a.seed()).At(counter(number)).Named("act")
	p, action, ok, err := a.decideByNormals(h, actions, stream)
	if err != nil {
		return d, false, err
	}
	if ok {
		return a.decided(p, action, stream), true, nil
	}
	values := make([]float32, policy.Samples()*inputs)
	if !h.sample(stream, policy.Samples(), actions, values) {
		return d, false, nil
	}
	if slices.ContainsFunc(values, notFinite) {
		return d, false, errPredictions
	}
	if a.hostLinks {
		t := a.trainer()
		t.Standardize = false
		if !t.HostResponses(nil, values) {
			return d, false, nil
		}
	}
	p, action = policy.DecideOnHost(values, inputs, stream.Named("policy"), int32(min(number, math.MaxInt32)))
	return a.decided(p, action, stream), true, nil
}

// decideByNormals decides from the normal distributions of the values; ok is false if the belief or the policy has no
// such method.
func (a *form) decideByNormals(h *host, actions [][]float32, s rng.Host) (p []float32, action int, ok bool,
	err error) {
	policy, is := a.hostPolicy.(explore.HostedNormal)
	if !is || promoted.Has[explore.HostedNormal](policy) || h.normals == nil || len(actions) == 0 {
		return nil, 0, false, nil
	}
	mean, sd, ok := h.normals(actions)
	if !ok {
		return nil, 0, false, nil
	}
	for i, m := range mean {
		if most := 6 * sd[i]; notFinite(m+most) || notFinite(m-most) { // normals from 24 bits are below 6
			return nil, 0, false, errPredictions
		}
	}
	p, action = policy.DecideByNormals(mean, sd, s)
	return p, action, true, nil
}

// decided returns the decision for an action with the policy's probabilities, after mixing in the floor.
func (a *form) decided(p []float32, action int, s rng.Host) Decision {
	var words [2]uint32
	s.Named("floor").Bits(words[:])
	action, p = floored(action, p, a.floor(), words[:])
	return Decision{Action: action, Probabilities: p}
}

// errPredictions is the ErrNotFinite of predictions.
var errPredictions = fmt.Errorf("predictions are %w: an input is too large, or training has diverged; "+
	"make an agent with a smaller step size, or with clipped gradients", ErrNotFinite)
