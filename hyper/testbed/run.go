package testbed

import (
	"context"
	"errors"
	"fmt"

	"github.com/gomlx/compute"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Result is the score of an agent on a problem.
type Result struct {
	Agent string `json:"agent"`
	Problem
	Tau int `json:"tau"` // classes predicted at once
	// KL estimates the divergence of the truth from what the agent says of tau classes together, in nats; not finite
	// where its predictions are not.
	KL lab.Float `json:"kl"`
	SE lab.Float `json:"se"` // standard error of KL over the test batches
	_  [0]func() // fields by name
}

// Options say how agents are tried.
type Options struct {
	Backend string // "" is backend.Default()
	Batches int    // of test inputs; 0 is 1000, the testbed's
	Taus    []int  // nil is Taus
	// Side is the most problems of one shape that are learned side by side; 0 is 10.
	Side int
}

func (o Options) withDefaults() Options {
	if o.Backend == "" {
		o.Backend = backend.Default()
	}
	if o.Batches == 0 {
		o.Batches = 1000
	}
	if o.Taus == nil {
		o.Taus = Taus
	}
	if o.Side == 0 {
		o.Side = 10
	}
	return o
}

// Validate reports every number that is out of its range.
func (o Options) Validate() error {
	errs := []error{faults.AtLeast("Batches", o.Batches, 0), faults.AtLeast("Side", o.Side, 0)}
	for _, tau := range o.Taus {
		errs = append(errs, faults.AtLeast("Taus", tau, 1))
	}
	return faults.Prefix("testbed.Options: ", errors.Join(errs...))
}

// Try tries an agent on problems of a sweep, and hands each batch of results to a function as it is made. Problems of
// one shape are learned side by side, by one compiled program; a result does not depend on the problems beside it, but
// for rounding. An error of the context, or of the function, ends it.
func Try(ctx context.Context, a Agent, s Sweep, o Options, done func([]Result) error) error {
	if err := errors.Join(s.Validate(), o.Validate()); err != nil {
		return err
	}
	o = o.withDefaults()
	shapes := shapesOf(s.Problems)
	for _, shape := range shapes {
		if err := a.Validate(shape[0].Inputs, shape[0].Data); err != nil {
			return err
		}
	}
	b, err := backend.Open(o.Backend)
	if err != nil {
		return err
	}
	for _, problems := range shapes {
		if err := tryShape(ctx, b, a, s, o, problems, done); err != nil {
			return err
		}
	}
	return nil
}

// shapesOf are problems by their shape, in their order.
func shapesOf(problems []Problem) (out [][]Problem) {
	type shape struct{ inputs, data int }
	at := map[shape]int{}
	for _, p := range problems {
		s := shape{p.Inputs, p.Data}
		i, ok := at[s]
		if !ok {
			i, out = len(out), append(out, nil)
			at[s] = i
		}
		out[i] = append(out[i], p)
	}
	return out
}

// tryShape is Try of problems of one shape, of which as many are learned side by side as divide them evenly: so one
// program serves all.
func tryShape(ctx context.Context, b compute.Backend, a Agent, s Sweep, o Options, problems []Problem,
	done func([]Result) error) error {
	var tests []Tests
	for _, tau := range o.Taus {
		tests = append(tests, s.Tests(tau, o.Batches))
	}
	t, err := newTrial(b, a, problems[0].Inputs, problems[0].Data, tests)
	if err != nil {
		return err
	}
	batches := (len(problems) + o.Side - 1) / o.Side
	for i := range batches {
		batch := problems[i*len(problems)/batches : (i+1)*len(problems)/batches]
		results, err := t.results(ctx, batch)
		if err != nil {
			return fmt.Errorf("agent %s, %d inputs, %d data: %w", a.Name, t.inputs, t.data, err)
		}
		if err := done(results); err != nil {
			return err
		}
	}
	return nil
}

// results learns problems side by side, and takes the tests.
func (t *trial) results(ctx context.Context, problems []Problem) (out []Result, err error) {
	args := t.args(problems)
	defer release(args)
	state, err := t.learn(ctx, args)
	if err != nil {
		return nil, err
	}
	defer release(state)
	for _, e := range t.tests {
		kl, se, err := e.take(ctx, args, state)
		if err != nil {
			return nil, err
		}
		for i, p := range problems {
			out = append(out, Result{Agent: t.agent.Name, Problem: p, Tau: e.Tau, KL: lab.Float(kl[i]), SE: lab.Float(se[i])})
		}
	}
	return out, nil
}
