package serve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// mostEffects is the largest number of effects reported for an action; the largest effects come first.
const mostEffects = 20

// explanations is the number of functions from which an explanation is computed.
const explanations = 256

func (s *Server) explain(ctx context.Context, r *api.DecisionRequest) (*api.Explanation, error) {
	a, done := s.agent()
	defer done()
	if r.List != 0 || r.Deferred {
		return nil, bad("list and deferred must be left out: nothing is decided")
	}
	m, names, err := s.menu(a, r)
	if err != nil {
		return nil, err
	}
	all, err := a.Explain(ctx, m, explanations)
	if err != nil {
		return nil, err
	}
	out := &api.Explanation{}
	for i, e := range all {
		one := api.ExplainedAction{Action: i, Name: names[i], Mean: e.Mean, SD: e.SD, Effects: []api.Effect{}}
		context := placesOf(agentfile.Names(a.Spec.Context), r.Context)
		for _, f := range e.Context {
			one.Effects = append(one.Effects, api.Effect{Of: "context", Name: context(f.Number), Effect: f.Mean, SD: f.SD})
		}
		if len(r.Actions) > 0 {
			own := placesOf(agentfile.Names(a.Spec.Action), r.Actions[i].Features)
			for _, f := range e.Action {
				one.Effects = append(one.Effects, api.Effect{Of: "action", Name: own(f.Number), Effect: f.Mean, SD: f.SD})
			}
		}
		slices.SortStableFunc(one.Effects, func(f, g api.Effect) int {
			return cmp.Compare(math.Abs(g.Effect), math.Abs(f.Effect))
		})
		one.Effects = one.Effects[:min(len(one.Effects), mostEffects)]
		out.Actions = append(out.Actions, one)
	}
	return out, nil
}

// placesOf returns a function that names a feature by its number. Features that share a bucket are named together.
func placesOf(n agent.Names, features map[string]any) func(number int) string {
	shared := map[int][]string{}
	for _, name := range slices.Sorted(maps.Keys(features)) {
		if number, full := n.Place(name, features[name]); number >= len(n.Known) {
			shared[number] = append(shared[number], full)
		}
	}
	return func(number int) string {
		switch {
		case number < len(n.Known):
			return n.Known[number]
		case len(shared[number]) > 0:
			return strings.Join(shared[number], " + ")
		}
		return fmt.Sprintf("bucket %d, of other features", number-len(n.Known))
	}
}
