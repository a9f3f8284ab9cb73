package serve

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// functions is the number of functions that Diagnostics draws.
const functions = 64

// recent holds the last decisions.
type recent struct {
	mu   sync.Mutex
	ring [64]struct {
		menu   agent.Menu
		action int
	}
	next int
}

func (r *recent) decided(m agent.Menu, d agent.Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := &r.ring[r.next%len(r.ring)]
	at.menu, at.action = m, d.Action
	r.next++
}

// forget removes the decisions, which another agent made.
func (r *recent) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = 0
}

// all returns the menus and the actions taken.
func (r *recent) all() (menus []agent.Menu, actions []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range min(r.next, len(r.ring)) {
		menus, actions = append(menus, r.ring[i].menu), append(actions, r.ring[i].action)
	}
	return menus, actions
}

func (s *Server) diagnostics(context.Context, *struct{}) (*api.Diagnostics, error) {
	a, done := s.agent()
	defer done()
	menus, actions := s.recent.all()
	drift, err := a.Drift()
	out := &api.Diagnostics{Decisions: len(menus), Functions: functions, Drift: drift, Alarms: a.Alarms().Count,
		Calibration: s.calib.result()}
	if run := a.Spec.Change.Run; run > 0 {
		out.Evidence = a.Alarms().Evidence / run
	}
	if err != nil || len(menus) == 0 {
		return out, err
	}
	choices := make([]string, functions) // the actions that each function would take
	belief := a.Snapshot()
	defer belief.Close()
	variances, count := 0.0, 0
	for i, m := range menus {
		values, err := valuesOf(a, belief, m)
		if err != nil {
			return nil, err
		}
		for k, f := range values {
			best := highest(f)
			choices[k] += fmt.Sprint(best, " ")
			out.Regret += float64(f[best]-f[actions[i]]) / float64(len(values)*len(menus))
		}
		means, variance := moments(values)
		variances, count = variances+variance, count+len(means)
		if highest(means) != actions[i] {
			out.Exploring += 1 / float64(len(menus))
		}
	}
	out.Spread = math.Sqrt(variances / float64(count))
	slices.Sort(choices)
	out.Distinct = len(slices.Compact(choices))
	return out, nil
}

// moments returns the mean of each action's value over functions, and the sum of the variances of these values.
func moments(values [][]float32) (means []float64, variance float64) {
	means = make([]float64, len(values[0]))
	for _, f := range values {
		for a, v := range f {
			means[a] += float64(v) / float64(len(values))
		}
	}
	for a, mean := range means {
		for _, f := range values {
			variance += (float64(f[a]) - mean) * (float64(f[a]) - mean) / float64(len(values)-1)
		}
	}
	return means, variance
}

// valuesOf returns the values of functions at the actions of a menu, [functions][actions].
func valuesOf(a served, belief *agent.Snapshot, m agent.Menu) ([][]float32, error) {
	x, err := a.Inputs(m)
	if err != nil {
		return nil, err
	}
	return belief.Sample(x, functions)
}

// highest returns the index of the largest number, the first of equal ones.
func highest[T float32 | float64](v []T) (at int) {
	for i := range v {
		if v[i] > v[at] {
			at = i
		}
	}
	return at
}
