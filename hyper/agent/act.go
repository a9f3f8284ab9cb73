package agent

import (
	"errors"
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Decision is an action taken, with the probability of each action as the policy saw it.
type Decision struct {
	Action        int
	Probabilities []float32
}

// ErrNotFinite says that the functions of an agent give values that are not finite: training has diverged.
var ErrNotFinite = errors.New("the predictions are not finite: training has diverged; make the agent anew with a smaller StepSize, or a Clip")

// Act chooses among actions given by their inputs, [actions][Features]; nil is all arms of a tabular model. The error is
// ErrNotFinite when a value that the policy saw is not finite.
func (a *Agent) Act(actions [][]float32) (Decision, error) {
	args, err := a.question(actions)
	if err != nil {
		return Decision{}, err
	}
	out, err := a.act.Call(args...)
	if err != nil {
		return Decision{}, err
	}
	if !tensors.ToScalar[bool](out[2]) {
		return Decision{}, ErrNotFinite
	}
	p, err := tensors.CopyFlatData[float32](out[0])
	if err != nil {
		return Decision{}, err
	}
	return Decision{Action: int(tensors.ToScalar[int32](out[1])), Probabilities: p}, nil
}

// Sample draws n functions from the hypermodel and returns their predictions at inputs x: [n][inputs]. Each call draws
// anew; nil inputs are all arms of a tabular model.
func (a *Agent) Sample(x [][]float32, n int) ([][]float32, error) {
	if n < 1 {
		return nil, fmt.Errorf("the number of functions must be at least 1, got %d", n)
	}
	args, err := a.question(x)
	if err != nil {
		return nil, err
	}
	exec, err := a.sampler(n)
	if err != nil {
		return nil, err
	}
	values, err := exec.Call1(args...)
	if err != nil {
		return nil, err
	}
	flat, err := tensors.CopyFlatData[float32](values)
	if err != nil {
		return nil, err
	}
	return slices.Collect(slices.Chunk(flat, len(flat)/n)), nil
}

// question makes the arguments of a program that evaluates functions at inputs x: the state, the number of this draw, and x
// unless it is nil.
func (a *Agent) question(x [][]float32) ([]any, error) {
	if x == nil && a.config.Features > 0 {
		return nil, fmt.Errorf("the inputs must be given: each has %d features", a.config.Features)
	}
	if x != nil && len(x) == 0 {
		return nil, fmt.Errorf("there is nothing to choose from: no inputs")
	}
	for _, row := range x {
		if err := a.checkInput(row); err != nil {
			return nil, err
		}
	}
	args := arguments(a.now.Load().state, a.draws.Add(1))
	switch {
	case x == nil:
	case a.config.Features > 0:
		args = append(args, [][][]float32{x})
	default:
		arms := make([][]int32, len(x))
		for i, row := range x {
			arms[i] = []int32{int32(row[0])}
		}
		args = append(args, [][][]int32{arms})
	}
	return args, nil
}

// stream is that of a draw, for the arguments of question.
func (a *Agent) stream(args []*Node) rng.Stream {
	state, rest := a.unflat(args)
	return rng.New(state["seed"]).Named("agent").At(rest[0]).Named("act")
}

// functions returns the predictions of n fresh functions, [1, n, inputs], for the arguments of question.
func (a *Agent) functions(args []*Node, n int) *Node {
	state, rest := a.unflat(args)
	var x *Node
	if len(rest) > 1 {
		x = rest[1]
	}
	return a.config.Model.Sample(a.trainer().Params(state), a.stream(args), n, x)
}

// buildAct draws functions, and decides; finite tells whether the functions' values are.
func (a *Agent) buildAct(args []*Node) (probabilities, action, finite *Node) {
	_, rest := a.unflat(args)
	now := explore.Moment{
		Stream: a.stream(args).Named("policy"), Period: ConvertDType(rest[0], dtypes.Int32),
		Anneal: Const(rest[0].Graph(), []float32{float32(a.config.Anneal)}),
	}
	values := a.functions(args, a.config.Policy.Samples())
	probabilities, action = a.config.Policy.Decide(values, now)
	return probabilities, Squeeze(action, 0), LogicalAll(IsFinite(values))
}

// sampler returns the program that draws n functions; it is compiled once for each number of inputs.
func (a *Agent) sampler(n int) (*Exec, error) {
	if exec, ok := a.samplers.Load(n); ok {
		return exec.(*Exec), nil
	}
	exec, err := NewExec(a.backend, func(args []*Node) *Node { return a.functions(args, n) })
	if err != nil {
		return nil, err
	}
	exec.SetMaxCache(-1)
	actual, _ := a.samplers.LoadOrStore(n, exec)
	return actual.(*Exec), nil
}
