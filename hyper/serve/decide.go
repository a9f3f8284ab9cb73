package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// Request is the body of /v1/decide: the actions to choose from, and the context.
type Request struct {
	// Context has features by name; missing features are 0. If the agent's Spec names features of the context, Context
	// must be present, even if it is empty.
	Context map[string]any `json:"context,omitzero"`
	// Arms lists the arms to choose from, for an agent of arms; nil means all arms.
	Arms []string `json:"arms,omitempty"`
	// Actions lists the actions to choose from, for an agent of actions with features.
	Actions []Action `json:"actions,omitempty"`
	// Deferred marks a decision that is shown later, or never. /v1/shown then reports that it is shown.
	Deferred bool `json:"deferred,omitempty"`
	// List is the number of places of a list; one action is chosen for each place. 0 asks for one action and no list.
	List int `json:"list,omitempty"`
}

// Action is an action given by its features. ID is the client's own name for it; the answer repeats it.
type Action struct {
	ID       string         `json:"id,omitempty"`
	Features map[string]any `json:"features"`
}

// Answer is the answer of /v1/decide.
type Answer struct {
	ID            string    `json:"id"`     // names the decision in a Reward; "" if the server only reads
	Action        int       `json:"action"` // index of the action in the request
	Name          string    `json:"name,omitempty"`
	Probability   float32   `json:"probability"`
	Probabilities []float32 `json:"probabilities"`  // of all actions; 0 for earlier places of the list
	List          []Answer  `json:"list,omitempty"` // one answer for each place; the first is the answer itself
}

func (s *Server) decide(ctx context.Context, r *Request) (*Answer, error) {
	begun := time.Now()
	a, done := s.agent()
	defer done()
	m, names, err := s.menu(a, r)
	if err != nil {
		return nil, err
	}
	m.Deferred = r.Deferred
	if r.List < 0 || r.List > len(names) {
		return nil, bad("list must be from 0 to %d, the number of actions, got %d", len(names), r.List)
	}
	var list []agent.Decision
	if r.List > 0 {
		list, err = a.DecideList(ctx, m, r.List)
	} else {
		var d agent.Decision
		d, err = a.Decide(ctx, m)
		list = []agent.Decision{d}
	}
	if err != nil {
		return nil, err
	}
	took := time.Since(begun) / time.Duration(len(list))
	answers := make([]Answer, len(list))
	for i, d := range list {
		s.decided(a, m, d, names[d.Action], took)
		answers[i] = Answer{ID: d.ID, Action: d.Action, Name: names[d.Action], Probability: float32(d.Prob()),
			Probabilities: d.Probabilities}
	}
	out := answers[0]
	if r.List > 0 {
		out.List = answers
	}
	return &out, nil
}

// decided notes a decision for metrics, the page and calibration.
func (s *Server) decided(a served, m agent.Menu, d agent.Decision, name string, took time.Duration) {
	s.metrics.decided(d)
	s.recent.decided(m, d)
	if len(a.spec.Arms) == 0 {
		name = ""
	}
	wait := time.Duration(a.spec.Reward.Wait)
	s.active.decided(d.ID, name, took, wait, a.Settled)
	if s.source == nil {
		s.calib.decided(a.Agent, m, d, wait)
	}
}

// checkContext reports a request without a context, if the Spec names features of the context. A forgotten context must
// not count as a context in which all features are 0.
func checkContext(spec Spec, r *Request) error {
	if r.Context != nil || len(spec.Context.Names) == 0 {
		return nil
	}
	return fmt.Errorf("context is missing: its features are %.200s; {} is a context in which all are 0",
		strings.Join(spec.Context.Names, ", "))
}

// menu returns the agent's menu of a request, and the names of the actions. The error has the status of the answer.
func (s *Server) menu(a served, r *Request) (agent.Menu, []string, error) {
	m, names, err := menu(a, r, s.options.MostActions)
	switch {
	case errors.Is(err, agent.ErrNotFinite):
		return m, nil, err // 422
	case err != nil:
		return m, nil, bad("%w", err)
	}
	return m, names, nil
}

// menu returns the agent's menu of a request with at most most actions, and the names of the actions.
func menu(of served, r *Request, most int) (m agent.Menu, names []string, err error) {
	if m, names, err = choices(of, r, most); err == nil {
		err = checkContext(of.spec, r)
	}
	return m, names, err
}

// choices does what menu does, without a check of a missing context.
func choices(of served, r *Request, most int) (m agent.Menu, names []string, err error) {
	spec := of.spec
	if n := max(len(r.Actions), len(r.Arms)); n > most {
		return m, nil, fmt.Errorf("a decision may have at most %d actions, got %d; send fewer, or start hyper serve with "+
			"--max-actions", most, n)
	}
	context, err := spec.Context.names().Numbers(r.Context)
	if err != nil {
		return m, nil, faults.Prefix("context: ", err)
	}
	if len(context) > 0 {
		m.Context = context
	}
	if len(spec.Arms) > 0 {
		return of.withArms(m, r)
	}
	if len(r.Arms) > 0 || len(r.Actions) == 0 {
		return m, nil, errors.New("actions must be given, each by its features, and arms left out")
	}
	for i, a := range r.Actions {
		if a.Features == nil {
			return m, nil, fmt.Errorf("actions[%d].features is missing; {} means that all features are 0", i)
		}
		x, err := spec.Action.names().Numbers(a.Features)
		if err != nil {
			return m, nil, faults.Prefix(fmt.Sprintf("actions[%d].features: ", i), err)
		}
		m.Actions, names = append(m.Actions, x), append(names, a.ID)
	}
	return m, names, nil
}

// withArms adds the arms of a request to a menu.
func (a served) withArms(m agent.Menu, r *Request) (agent.Menu, []string, error) {
	all := a.spec.Arms
	if len(r.Actions) > 0 {
		return m, nil, errors.New("actions must be left out: the agent chooses among arms, which have no features; " +
			"give arms, or leave arms out for all")
	}
	switch {
	case r.Arms == nil && a.whole:
		return m, all, nil
	case r.Arms == nil:
		m.Arms = slices.Clone(a.places)
		return a.armsAsActions(m), all, nil
	case len(r.Arms) == 0:
		return m, nil, errors.New("arms must have at least one arm, or be left out for all")
	}
	for i, name := range r.Arms {
		at := slices.Index(all, name)
		if at < 0 {
			return m, nil, fmt.Errorf("arms[%d]: unknown arm %.40q%s; the arms are %.200s", i, name, nearest.Hint(name, all),
				strings.Join(all, ", "))
		}
		if slices.Contains(r.Arms[:i], name) {
			return m, nil, fmt.Errorf("arms[%d]: arm %.40q is given twice", i, name)
		}
		m.Arms = append(m.Arms, a.places[at])
	}
	return a.armsAsActions(m), r.Arms, nil
}

// armsAsActions moves the arms of a menu without a context to its actions.
func (a served) armsAsActions(m agent.Menu) agent.Menu {
	if m.Context == nil {
		for _, at := range m.Arms {
			m.Actions = append(m.Actions, []float32{float32(at)})
		}
		m.Arms = nil
	}
	return m
}
