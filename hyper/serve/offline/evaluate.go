package offline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/agent/offpolicy"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// Evaluation estimates how well an agent would have done on the decisions of another agent's log.
type Evaluation struct {
	Decisions  int        `json:"decisions"`  // number of decisions in the log
	Rewarded   int        `json:"rewarded"`   // number of decisions with a reward, or settled with a default
	LearnedOf  int        `json:"learned_of"` // number of first decisions from which the agent has learned
	Evaluated  int        `json:"evaluated"`  // number of the other decisions that have a reward
	Estimators []Estimate `json:"estimators"`
}

// Estimate is the mean reward of a decision by one estimator, or the reason why there is no estimate.
type Estimate struct {
	Name          string  `json:"name"` // of the estimator; the first is "the log itself"
	Value         float64 `json:"value"`
	Lower         float64 `json:"lower"` // lower end of the interval
	Upper         float64 `json:"upper"` // upper end of the interval
	EffectiveSize float64 `json:"effective_size"`
	Refused       string  `json:"refused,omitempty"`
}

// EvaluateOptions configure Evaluate. Zero values mean defaults.
type EvaluateOptions struct {
	// Learn is the share of the decisions, the first ones, from which the agent learns. It is evaluated on the others,
	// and does not learn from them. 0 means 0.5.
	Learn float64
	// Missing is the reward of a decision that got none and was not settled with a default. nil leaves these decisions
	// out, so that the estimates describe the others. A deferred decision that was never shown is always left out.
	Missing *float64
	// Functions is the number of functions drawn from the belief for the reward model of the doubly robust estimators;
	// 0 means 64.
	Functions int
	Offpolicy offpolicy.Options
}

func (o EvaluateOptions) withDefaults() EvaluateOptions {
	o.Learn = cmp.Or(o.Learn, 0.5)
	o.Functions = cmp.Or(o.Functions, 64)
	return o
}

// Evaluate estimates from the log of one agent how well another agent, given by a Spec, would have done: see package
// offpolicy. A decision chooses among the arms at its time. The Spec may name arms in another order, and may have other
// features (see [Replay]).
//
// The error is an error of Replay, or of options. If the log does not allow an estimate, Estimate.Refused gives the
// reason, and advice in the terms of `hyper evaluate`.
func Evaluate(ctx context.Context, log *Log, spec api.Spec, o EvaluateOptions) (*Evaluation, error) {
	o = o.withDefaults()
	if err := errors.Join(o.validate(), log.hasArms(spec)); err != nil {
		return nil, err
	}
	rewards, hidden, decided, err := outcomes(log.RecordsFor(spec))
	if err != nil {
		return nil, err
	}
	out := &Evaluation{Decisions: len(decided), Rewarded: len(rewards), LearnedOf: int(o.Learn * float64(len(decided)))}
	if len(decided) < 2 {
		return nil, fmt.Errorf("an evaluation needs at least two decisions, and the log has %d", len(decided))
	}
	split := decided[out.LearnedOf]
	c, err := agentfile.Config(spec)
	if err != nil {
		return nil, err
	}
	switch c.Learner.Policy.(type) {
	case explore.UCB, explore.IDS, explore.SquareCB: // the order of their functions does not matter
	default:
		// Thompson sampling with many functions logs probabilities that are means over all orders of the functions. They
		// are not valid for an agent that draws the functions that took the action, in the same order.
		spec.Seed = ^spec.Seed
	}
	a, err := log.trainedAgent(ctx, spec, split)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	o.fill(rewards, hidden)
	later := func(yield func(journal.Record, error) bool) {
		for r, err := range log.RecordsFor(spec) {
			if (err != nil || r.Number >= split) && !yield(r, err) {
				return
			}
		}
	}
	target, own, err := samples(ctx, a, later, rewards, c.AddsArms(), o.Functions)
	if err != nil {
		return nil, err
	}
	out.Evaluated = len(target)
	return out, out.estimate(target, own, o.Offpolicy)
}

// fill gives the reward Missing to each decision without a reward that is not hidden.
func (o EvaluateOptions) fill(rewards map[string]float64, hidden map[string]bool) {
	for id, never := range hidden {
		if _, has := rewards[id]; !has && !never && o.Missing != nil {
			rewards[id] = *o.Missing
		}
	}
}

// samples returns the decisions in records that have a reward, by ID, as samples: see sampled. The agent follows the
// changes of arms if arms is true.
func samples(ctx context.Context, a *agent.Agent, records Records, rewards map[string]float64, arms bool,
	functions int) (target, own []offpolicy.Sample, err error) {
	for r, err := range records {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, nil, err
		}
		if r.Arms != nil && arms {
			if err := a.Apply(r); err != nil {
				return nil, nil, err
			}
		}
		if r.Decision == nil {
			continue
		}
		y, ok := rewards[r.Decision.ID]
		if !ok {
			continue
		}
		s, logged, err := sampled(ctx, a, r.Decision, y, functions)
		if err != nil {
			return nil, nil, fmt.Errorf("record %d: %w", r.Number, err)
		}
		target, own = append(target, s), append(own, logged)
	}
	return target, own, nil
}

func (o EvaluateOptions) validate() error {
	if !(o.Learn > 0 && o.Learn < 1) {
		return fmt.Errorf("the share of decisions to learn from must be between 0 and 1, got %v", o.Learn)
	}
	if o.Functions < 1 {
		return fmt.Errorf("the number of functions of the reward model must be at least 1, got %d", o.Functions)
	}
	return nil
}

// hasArms reports arms of a Spec that the log has never had.
func (l *Log) hasArms(spec api.Spec) error {
	for _, name := range spec.Arms {
		if !slices.Contains(l.arms, name) {
			return fmt.Errorf("arms must be arms of the log, %.200s; got %.40q%s",
				strings.Join(l.arms, ", "), name, nearest.Hint(name, l.arms))
		}
	}
	return nil
}

// estimate sets the estimates of the agent and of the log itself.
func (e *Evaluation) estimate(target, own []offpolicy.Sample, o offpolicy.Options) error {
	itself, err := estimated("the log itself", own, offpolicy.IPS{}, o)
	e.Estimators = []Estimate{itself}
	for _, by := range []offpolicy.Estimator{offpolicy.SNIPS{}, offpolicy.DoublyRobust{}, offpolicy.Switch{},
		offpolicy.IPS{}} {
		one, wrong := estimated(by.String(), target, by, o)
		e.Estimators, err = append(e.Estimators, one), cmp.Or(err, wrong)
	}
	return err
}

// outcomes returns the rewards of decisions by ID (the corrected rewards, if there are any), the deferred decisions
// that were never shown, and the record numbers of all decisions.
func outcomes(records Records) (rewards map[string]float64, hidden map[string]bool, decided []uint64, err error) {
	rewards, hidden = map[string]float64{}, map[string]bool{}
	for r, err := range records {
		if err != nil {
			return nil, nil, nil, err
		}
		if d := r.Decision; d != nil {
			decided = append(decided, r.Number)
			hidden[d.ID] = d.Deferred
			continue
		}
		id := r.ID()
		if _, there := hidden[id]; !there { // the log has dropped the decision
			continue
		}
		hidden[id] = false
		switch {
		case r.Feedback != nil && !r.Feedback.Kept:
			rewards[id] = float64(r.Feedback.Reward)
		case r.Settled != nil:
			rewards[id] = float64(r.Settled.Reward)
		}
	}
	return rewards, hidden, decided, nil
}

// sampled returns a decision of the log as two samples: with the agent as the target, and with the log's own policy as
// the target.
func sampled(ctx context.Context, a *agent.Agent, d *journal.Decision, y float64, functions int) (
	target, own offpolicy.Sample, err error) {
	m := menuOf(a, d)
	would, err := a.Decide(ctx, m)
	if err != nil {
		return target, own, err
	}
	x, err := a.Inputs(m)
	if err != nil {
		return target, own, err
	}
	values, err := a.Sample(x, functions)
	if err != nil {
		return target, own, err
	}
	means := make([]float32, len(values[0]))
	for _, f := range values {
		for i, v := range f {
			means[i] += v / float32(functions)
		}
	}
	if len(d.Probabilities) < len(means) { // a file may have only the probability of the action taken: see FileLog
		logged := d.Probabilities[0]
		if target, err = offpolicy.NewPartial(d.Action, y, logged, would.Probabilities, means); err != nil {
			return target, own, err
		}
		itself := make([]float32, len(means))
		for i := range itself {
			itself[i] = (1 - logged) / float32(len(means)-1)
		}
		itself[d.Action] = logged
		own, err = offpolicy.NewPartial(d.Action, y, logged, itself, nil)
		return target, own, err
	}
	if target, err = offpolicy.NewSample(d.Action, y, d.Probabilities, would.Probabilities, means); err != nil {
		return target, own, err
	}
	own, err = offpolicy.NewSample(d.Action, y, d.Probabilities, d.Probabilities, nil)
	return target, own, err
}

// menuOf returns the menu of a decision of the log. A decision that names no arms chose among the first arms; the agent
// may have more arms now.
func menuOf(a *agent.Agent, d *journal.Decision) agent.Menu {
	m := agent.Menu{Context: d.Context, Actions: d.Actions, Arms: d.Arms}
	n, set := len(d.Probabilities), a.Arms()
	if set.First == 0 || m.Arms != nil || m.Actions != nil || n == len(set.Like) && set.AllInOrder() {
		return m
	}
	for arm := range n {
		if m.Context == nil {
			m.Actions = append(m.Actions, []float32{float32(arm)})
		} else {
			m.Arms = append(m.Arms, arm)
		}
	}
	return m
}

// advice says what to do if a log does not allow an estimate.
var advice = map[error]string{
	offpolicy.ErrNoOverlap: "let the agent that writes the log take every action at times, by floor in its file, or " +
		"evaluate an agent that takes only actions of the log's agent",
	offpolicy.ErrTooFew: "log more decisions, evaluate on more of them by a smaller --learn, or evaluate an agent that " +
		"is nearer to the agent that wrote the log",
	offpolicy.ErrMeanWeight: "if some actions lack rewards more often than others, give decisions without a reward one by " +
		"--missing",
}

// estimated returns an estimate, or the reason why there is none. The error is an error of options.
func estimated(name string, samples []offpolicy.Sample, e offpolicy.Estimator, o offpolicy.Options) (Estimate, error) {
	v, err := offpolicy.Evaluate(samples, e, o)
	if r, ok := errors.AsType[*offpolicy.Refusal](err); ok {
		return Estimate{Name: name, Refused: fmt.Sprintf("%v: %s; %s", r.Kind, r.Why, advice[r.Kind])}, nil
	}
	return Estimate{Name: name, Value: v.Value, Lower: v.Lower, Upper: v.Upper, EffectiveSize: v.EffectiveSize}, err
}
