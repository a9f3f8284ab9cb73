package learners

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// For returns a learner of a kind in [Known] for a problem outside of simulations. settings is a JSON object of keys
// and values, for example from a record of `hyper tune`; nil means the defaults of the kind. The error says what is
// wrong, and lists the valid kinds or keys.
func For(kind string, p bandit.Problem, settings json.RawMessage) (learner.Learner, error) {
	create, ok := Known[kind]
	if !ok {
		names := slices.Sorted(maps.Keys(Known))
		return learner.Learner{}, fmt.Errorf("unknown learner %q%s; choose %s", kind, nearest.Hint(kind, names),
			strings.Join(names, ", "))
	}
	s := lab.Setting{World: &outside{p}, Learner: create(p.Features == 0)}
	if settings != nil {
		if err := lab.SetValues(&s, settings); err != nil {
			return learner.Learner{}, fmt.Errorf("learner %s: %w", kind, err)
		}
	}
	l, _, err := s.Handover(1)
	if err != nil {
		return l, fmt.Errorf("learner %s: %w", kind, err)
	}
	l.Train.Capacity = 0 // the agent has its own capacity
	return l, nil
}

// outside is a world that is not simulated. Only its Problem is known.
type outside struct{ problem bandit.Problem }

func (w *outside) Validate() error         { return nil }
func (w *outside) Problem() bandit.Problem { return w.problem }

func (w *outside) Init(rng.Stream, hyper.Numbers) bandit.State { panic(notSimulated) }
func (w *outside) Offer(bandit.State, hyper.Numbers, rng.Stream, *graph.Node) (bandit.Offer, bandit.State) {
	panic(notSimulated)
}
func (w *outside) Step(bandit.State, hyper.Numbers, rng.Stream, *graph.Node, *graph.Node) (bandit.Outcome,
	bandit.State) {
	panic(notSimulated)
}

const notSimulated = "learners: a world outside of simulations cannot be simulated"
