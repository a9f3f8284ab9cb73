package testbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"

	"github.com/gomlx/compute"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Result is the score of an agent on a problem.
type Result struct {
	Agent string `json:"agent"`
	Made  string `json:"made,omitempty"` // see Agent.Made
	Problem
	Tau int `json:"tau"` // number of classes predicted together
	// KL estimates the divergence of the truth from the agent's joint prediction of tau classes, in nats. In other
	// kinds of sweep it is the score that [Kind] describes. It is not finite if the agent's predictions are not.
	KL stats.Float `json:"kl"`
	SE stats.Float `json:"se"` // standard error of KL over the test batches
	// Accuracy is the share of single classes that the agent predicts, and ECE is the expected calibration error of their
	// probabilities. They are nil for other tau, and in older records.
	Accuracy *stats.Float `json:"accuracy,omitempty"`
	ECE      *stats.Float `json:"ece,omitempty"`
	_        [0]func()    // requires field names in literals
}

// Options are settings of an evaluation; zero values have defaults.
type Options struct {
	Backend string // "" is backend.Default()
	Batches int    // of test inputs; 0 is 1000, the testbed's
	Taus    []int  // nil means the taus of the sweep
	// Side is the maximum number of problems of one shape that are learned side by side; 0 is 10.
	Side int
	// Process is a command line that calls [Worker], and passes its last argument as the share. If Process is set, the
	// backend is xla:cpu, and there are several jobs, a number of Workers processes try the problems: XLA uses several
	// cores poorly for one program of this size. nil means this process alone.
	Process []string
	Workers int // number of processes; 0 is the number of cores
}

func (o Options) withDefaults(s Sweep) Options {
	o.Backend = cmp.Or(o.Backend, backend.Default())
	o.Batches, o.Side, o.Workers = cmp.Or(o.Batches, 1000), cmp.Or(o.Side, 10), cmp.Or(o.Workers, runtime.NumCPU())
	if o.Taus == nil {
		o.Taus = s.Taus()
	}
	return o
}

// Validate reports every number that is out of its range, except for Taus: see [Sweep.CheckTaus].
func (o Options) Validate() error {
	return faults.Prefix("testbed.Options: ", errors.Join(faults.AtLeast("Batches", o.Batches, 0),
		faults.AtLeast("Side", o.Side, 0), faults.AtLeast("Workers", o.Workers, 0)))
}

// Try tries an agent on the problems of a sweep. It calls done with each batch of results, one call at a time. One
// compiled program learns several problems of one shape side by side. But for rounding, what is learned of a problem
// does not depend on the problems beside it. The indices that score it do, because their number in a chunk depends on
// the number of problems: another number is another Monte Carlo sample of the same size. Try returns the first error of
// the context or of done.
func Try(ctx context.Context, a Agent, s Sweep, o Options, done func([]Result) error) error {
	o, jobs, err := prepare(a, s, o)
	if err != nil {
		return err
	}
	if len(o.Process) > 0 && o.Backend == backend.XLACPU && o.Workers > 1 && len(jobs) > 1 {
		return tryByProcesses(ctx, o, jobs, done)
	}
	return tryJobs(ctx, a, s, o, jobs, done)
}

// prepare checks the arguments of Try, and makes the jobs. A job is a list of problems of one shape that are learned
// side by side. The problems of a shape are divided evenly among its jobs, so that one program usually serves all of
// them.
func prepare(a Agent, s Sweep, o Options) (Options, [][]Problem, error) {
	if err := errors.Join(s.Validate(), o.Validate()); err != nil {
		return o, nil, err
	}
	o = o.withDefaults(s)
	if err := faults.Prefix("testbed.Options: ", s.CheckTaus(o.Taus)); err != nil {
		return o, nil, err
	}
	var jobs [][]Problem
	for _, shape := range shapesOf(s.Problems) {
		if err := a.Validate(shape[0].Inputs, shape[0].Data); err != nil {
			return o, nil, err
		}
		n := (len(shape) + o.Side - 1) / o.Side
		for i := range n {
			jobs = append(jobs, shape[i*len(shape)/n:(i+1)*len(shape)/n])
		}
	}
	return o, jobs, nil
}

// shapesOf groups problems by their shape. Groups, and problems within a group, keep their order.
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

// tryJobs does jobs in order, in this process.
func tryJobs(ctx context.Context, a Agent, s Sweep, o Options, jobs [][]Problem, done func([]Result) error) error {
	t, err := newTrier(a, s, o)
	if err != nil {
		return err
	}
	for _, problems := range jobs {
		results, err := t.try(ctx, problems)
		if err != nil {
			return err
		}
		if err := done(results); err != nil {
			return err
		}
	}
	return nil
}

// problemScores holds scores by name, one number for each problem.
type problemScores map[string][]float32

// trier tries an agent on jobs, one after the other. Consecutive jobs of one shape share compiled programs.
type trier struct {
	backend compute.Backend
	agent   Agent
	kind    Kind
	tests   []testInputs
	last    *trial
}

func newTrier(a Agent, s Sweep, o Options) (*trier, error) {
	b, err := backend.Open(o.Backend)
	t := &trier{backend: b, agent: a, kind: s.Kind}
	for _, tau := range o.Taus {
		t.tests = append(t.tests, s.tests(tau, o.Batches))
	}
	return t, err
}

// try does one job.
func (t *trier) try(ctx context.Context, problems []Problem) (results []Result, err error) {
	inputs, data := problems[0].Inputs, problems[0].Data
	if t.last == nil || t.last.inputs != inputs || t.last.data != data {
		t.last = newTrial(t.backend, t.agent, t.kind, inputs, data, t.tests)
	}
	if results, err = t.last.results(ctx, problems); err != nil {
		return nil, fmt.Errorf("agent %s, %d inputs, %d data: %w", t.agent.Name, inputs, data, err)
	}
	return results, nil
}

// at returns the named score of a problem, nil if the problem lacks the score.
func (m problemScores) at(name string, problem int) *stats.Float {
	if m[name] == nil {
		return nil
	}
	return new(stats.Float(m[name][problem]))
}

// results learns problems side by side, and tests the agent on each.
func (t *trial) results(ctx context.Context, problems []Problem) (out []Result, err error) {
	args := t.args(problems)
	defer release(args)
	if t.kind != Classes {
		realized, err := t.realize(ctx, problems)
		if err != nil {
			return nil, err
		}
		maps.Copy(args, realized)
	}
	state, err := t.learn(ctx, args)
	if err != nil {
		return nil, err
	}
	defer release(state)
	for _, e := range t.tests {
		scores, err := e.run(ctx, args, state)
		if err != nil {
			return nil, err
		}
		for i, p := range problems {
			out = append(out, Result{Agent: t.agent.Name, Made: t.agent.Made, Problem: p, Tau: e.Tau, KL: *scores.at(klName, i),
				SE: *scores.at(seName, i), Accuracy: scores.at(accuracyName, i), ECE: scores.at(eceName, i)})
		}
	}
	return out, nil
}
