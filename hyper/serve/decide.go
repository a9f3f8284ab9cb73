package serve

import (
	"context"
	"errors"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

func (s *Server) decide(ctx context.Context, r *api.DecisionRequest) (*api.Decision, error) {
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
	answers := make([]api.Decision, len(list))
	for i, d := range list {
		s.decided(a, m, d, names[d.Action], took)
		answers[i] = api.Decision{ID: d.ID, Action: d.Action, Name: names[d.Action], Probability: float32(d.Prob()),
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
	if len(a.Spec.Arms) == 0 {
		name = ""
	}
	wait := time.Duration(a.Spec.Reward.Wait)
	s.active.decided(d.ID, name, took, wait, a.Settled)
	if s.source == nil {
		s.calib.decided(a.Agent, m, d, wait)
	}
}

// menu returns the agent's menu of a request, and the names of the actions. The error has the status of the answer.
func (s *Server) menu(a served, r *api.DecisionRequest) (agent.Menu, []string, error) {
	m, names, err := a.Menu(r, s.options.MostActions)
	switch {
	case errors.Is(err, agent.ErrNotFinite):
		return m, nil, err // 422
	case err != nil:
		return m, nil, bad("%w", err)
	}
	return m, names, nil
}
