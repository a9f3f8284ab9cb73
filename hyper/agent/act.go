package agent

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Decision is an action taken, with the probability that each action had of being taken, given the functions that the
// policy saw. The action is drawn from Probabilities themselves, so that for every action a, E[1{Action = a} /
// Probabilities[a]] = 1 where it is positive: importance weights of a log of Decisions are unbiased.
type Decision struct {
	Action        int
	Probabilities []float32 // of single precision, to which their sum is 1
	Scheme        Scheme
}

// Scheme says how the probabilities of an agent's decisions come about: (1 - Floor) times those that the Policy gives
// for the values of so many Functions, drawn anew for each decision, plus Floor over the number of actions. It is for
// logs.
type Scheme struct {
	Policy    string  // as Go writes it, with its settings
	Functions int     // drawn from the hypermodel for each decision
	Floor     float64 // the chance that an action is taken uniformly at random
}

// Act chooses among actions given by their inputs, [actions][Features]; nil is all arms of a tabular model. The error
// is ErrNotFinite when a value that the policy saw is not finite.
//
// A program is compiled when a number of actions is first asked for. Numbers are rounded up to 1, 2, 3, 4, 6, 8, 12,
// 16, 24 and so on, and the programs of the last 16 of these, Sample's among them, are kept. Warmup compiles
// beforehand. A Policy that is no explore.Padder has a program for each number of actions.
func (a *Agent) Act(actions [][]float32) (Decision, error) {
	if err := a.checkInputs(actions); err != nil {
		return Decision{}, err
	}
	return a.decide(actions, a.sizeToAct(len(actions)), a.decisions.Add(1)-1)
}

// sizeToAct is the number of inputs that the program sees.
func (a *Agent) sizeToAct(actions int) int {
	if _, ok := a.config.Policy.(explore.Padder); ok {
		return padded(actions)
	}
	return actions
}

// decide makes decision so many, counted from 0, with actions padded to a size.
func (a *Agent) decide(actions [][]float32, size int, number uint32) (Decision, error) {
	out, err := a.ask(shape{inputs: size}, actions, number)
	if err != nil {
		return Decision{}, err
	}
	defer free(out...)
	if !tensors.ToScalar[bool](out[2]) {
		return Decision{}, fmt.Errorf("predictions are %w: an input is too large, or training has diverged; "+
			"make an agent with a smaller StepSize, or a Clip", ErrNotFinite)
	}
	p, err := tensors.CopyFlatData[float32](out[0])
	if err != nil {
		return Decision{}, err
	}
	words, err := tensors.CopyFlatData[uint32](out[1])
	if err != nil {
		return Decision{}, err
	}
	n := len(actions)
	if actions == nil {
		n = len(p)
	}
	p = mixed(p, n, a.floor())
	return Decision{Action: drawn(p, words), Probabilities: p, Scheme: a.scheme()}, nil
}

// checkFloor reports a Floor that is no probability.
func checkFloor(floor float64) error {
	if !(floor <= 1) {
		return fmt.Errorf("the Floor must be at most 1, or negative for none, got %v", floor)
	}
	return nil
}

// floor is the probability of a uniform action.
func (a *Agent) floor() float64 { return max(a.config.Floor, 0) }

func (a *Agent) scheme() Scheme {
	return Scheme{Policy: fmt.Sprintf("%#v", a.config.Policy), Functions: a.config.Policy.Samples(), Floor: a.floor()}
}

// mixed returns the first n probabilities, mixed with equal ones by the weight floor. Those after belong to padding,
// which is the first action's likeness.
func mixed(p []float32, n int, floor float64) []float32 {
	sum := 0.0
	for i, q := range p {
		sum += float64(q)
		if i >= n {
			p[0] += q
		}
	}
	for i := range p[:n] {
		p[i] = float32((1-floor)*float64(p[i])/sum + floor/float64(n))
	}
	return p[:n:n]
}

// drawn draws an action of probabilities, by two random words.
func drawn(p []float32, words []uint32) int {
	total := 0.0
	for _, q := range p {
		total += float64(q)
	}
	u := total * (float64(words[0]) + float64(words[1])/(1<<32)) / (1 << 32)
	last := 0
	for i, q := range p {
		if q > 0 {
			last = i
			if u -= float64(q); u < 0 {
				break
			}
		}
	}
	return last
}

// buildAct decides: rest is the number of decisions before and, unless all arms are asked for, how many inputs there
// are and x.
func (a *Agent) buildAct(args []*Node) []*Node {
	state, rest := a.part(args, a.read), args[len(a.read):]
	g := rest[0].Graph()
	stream := rng.New(state["seed"]).Named("agent").At(rest[0]).Named("decide")
	now := explore.Moment{
		Stream: stream.Named("policy"), Period: ConvertDType(rest[0], dtypes.Int32),
		Anneal: Const(g, []float32{float32(a.config.Anneal)}),
	}
	var x *Node
	if len(rest) > 1 {
		now.Actions, x = rest[1], rest[2]
	}
	values := a.config.Model.Sample(a.trainer().Params(state), stream, a.config.Policy.Samples(), x)
	if x != nil {
		values = padding(values, now.Actions)
	}
	probabilities, _ := a.config.Policy.Decide(values, now)
	return []*Node{probabilities, stream.Named("action").Bits(2), LogicalAll(IsFinite(values))}
}

// padding gives the inputs after the first so many the values of the first.
func padding(values, inputs *Node) *Node {
	place := Iota(values.Graph(), shapes.Make(dtypes.Int32, values.Shape().Dimensions...), 2)
	first := Slice(values, AxisRange(), AxisRange(), AxisRange(0, 1))
	return Where(LessThan(place, inputs), values, BroadcastToShape(first, values.Shape()))
}
