package lab

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// typeOf returns the type of a world in words. The type of a delayed world is the type of the world within.
func typeOf(w bandit.World) string {
	if d, ok := w.(*bandit.Delayed); ok {
		w = d.World
	}
	return fmt.Sprintf("%T", w)
}

// checkProblem returns an error unless a world has actions, and has features if its inputs change.
func checkProblem(w bandit.World) error {
	p := w.Problem()
	if p.Actions < 1 || p.Features < 0 || p.Moves && p.Features == 0 {
		return fmt.Errorf("the Problem of the world %s has %d Actions and %d Features: it needs at least one action, and "+
			"at least one feature if it Moves", typeOf(w), p.Actions, p.Features)
	}
	return nil
}

// checkOffer panics with a [faults.Fault] unless the parts of a world's Offer have the shapes that its Problem says.
func (p *program) checkOffer(inputs, available *graph.Node, runs int) {
	actions, features := p.problem.Actions, p.problem.Features
	if inputs != nil || features > 0 {
		faults.Node(inputs, shapes.Make(dtypes.Float32, runs, actions, features), "Offer.Inputs of the world %s", p.name)
	}
	if available != nil {
		faults.Node(available, shapes.Make(dtypes.Bool, runs, actions), "Offer.Available of the world %s", p.name)
	}
}

// checkStep panics with a [faults.Fault] unless a world's Step returned the reward and the regret of each run, and a
// state with the same names and shapes as before the period. What Offer added to the state for Step may still be there;
// it is dropped. The regret may be float64, as the sum of regrets is.
func (p *program) checkStep(o bandit.Outcome, before, offered, after bandit.State, runs int) {
	reward, regret := shapes.Make(dtypes.Float32, runs), shapes.Make(dtypes.Float32, runs)
	if o.Regret != nil && o.Regret.DType() == dtypes.Float64 {
		regret.DType = dtypes.Float64
	}
	faults.Node(o.Reward, reward, "Outcome.Reward of the world %s", p.name)
	faults.Node(o.Regret, regret, "Outcome.Regret of the world %s", p.name)
	if p.problem.Delays != (o.Late != nil) {
		panic(faults.New("", "Outcome.Late of the world %s must be set if its Problem has Delays, and only then", p.name))
	}
	for name, x := range before {
		faults.Node(after[name], x.Shape(), "%q in the state after Step of the world %s", name, p.name)
	}
	for name := range after {
		if before[name] == nil && offered[name] == nil {
			panic(faults.New("", "%q in the state after Step of the world %s was not in the state of Init", name, p.name))
		}
	}
}

// nameFaults calls a method of a world or an agent that builds a part of a graph. If the method panics with an error,
// such as an error of GoMLX, nameFaults panics with a [faults.Fault] that names the method and the line of code.
func nameFaults(method string, call func()) {
	defer func() {
		r := recover()
		err, isError := r.(error)
		if _, isFault := errors.AsType[*faults.Fault](err); isError && !isFault {
			r = faults.New("", "%s, %s: %v", method, faultyLine(), err)
		}
		if r != nil {
			panic(r)
		}
	}()
	call()
}

// faultyLine returns the file and the line of the innermost call, outside of GoMLX and Go's runtime, that panics. A
// deferred function calls it.
func faultyLine() string {
	callers := make([]uintptr, 64)
	frames, panicked := runtime.CallersFrames(callers[:runtime.Callers(1, callers)]), false
	for {
		f, more := frames.Next()
		library := strings.HasPrefix(f.Function, "runtime.") || strings.HasPrefix(f.Function, "github.com/gomlx/")
		if panicked && !library || !more {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		panicked = panicked || f.Function == "runtime.gopanic"
	}
}

// plain returns the [faults.Fault] in an error of GoMLX, without the names of its programs, or otherwise the error.
func plain(err error) error {
	if f, ok := errors.AsType[*faults.Fault](err); ok {
		return f
	}
	return err
}
