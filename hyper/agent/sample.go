package agent

import (
	"fmt"
	"slices"
	"sync/atomic"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Sample draws n functions from the belief and returns their predictions at inputs x, [n][inputs]: mean responses, in
// the units of the responses. Each call draws new functions. nil inputs mean all arms, including arms that are not
// offered. Samples do not count as decisions.
//
// If the belief cannot draw functions in plain Go, programs are compiled and kept as for Act, for each n and each
// rounded number of inputs.
func (a *Agent) Sample(x [][]float32, n int) ([][]float32, error) {
	f, belief := a.belief()
	defer belief.drop()
	return f.sample(belief, x, n, &a.samples)
}

// sample draws from a belief and increments samples, the number of samples so far.
func (a *form) sample(belief *snapshot, x [][]float32, n int, samples *atomic.Uint64) ([][]float32, error) {
	if n < 1 {
		return nil, fmt.Errorf("the number of functions must be at least 1, got %d", n)
	}
	if err := a.checkInputs(x); err != nil {
		return nil, err
	}
	return a.draw(belief, x, n, uint32(samples.Add(1)-1))
}

// draw returns the sample with a number.
func (a *form) draw(belief *snapshot, x [][]float32, n int, number uint32) ([][]float32, error) {
	values, ok, err := a.sampleOnHost(belief, x, n, number)
	if ok || err != nil {
		return slices.Collect(slices.Chunk(values, a.inputsOf(x))), err
	}
	out, err := a.ask(shape{functions: n, inputs: padded(len(x))}, belief, x, number)
	if err != nil {
		return nil, err
	}
	defer free(out...)
	flat, err := tensors.CopyFlatData[float32](out[0])
	if err != nil {
		return nil, err
	}
	functions := slices.Collect(slices.Chunk(flat, len(flat)/n))
	for i, f := range functions {
		if x != nil {
			functions[i] = f[:len(x):len(x)]
		}
	}
	return functions, nil
}

// buildSample builds the program that predicts with n new functions, [1, n, inputs]. The arguments after the state are
// the number of earlier samples and, unless all arms are asked for, the number of inputs and the inputs x.
func (a *form) buildSample(args []*Node, n int) *Node {
	state, rest := a.part(args, a.read), args[len(a.read):]
	stream := streams(state).Act(rest[0]).Named("sample")
	return a.config.Learner.Predict(state, stream, n, optional(rest, 2))
}
