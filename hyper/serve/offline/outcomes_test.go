package offline

import (
	"reflect"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/janpfeifer/must"
)

// Evaluation uses the final reward of a settled decision, and leaves out decisions that were never shown, even if a
// missing reward is 0.
func TestOutcomes(t *testing.T) {
	records := func(yield func(journal.Record, error) bool) {
		for i, r := range []journal.Record{
			{Feedback: &journal.Feedback{ID: "dropped", Reward: 9}},
			{Decision: &journal.Decision{ID: "silent"}},
			{Decision: &journal.Decision{ID: "late"}},
			{Decision: &journal.Decision{ID: "never", Deferred: true}},
			{Decision: &journal.Decision{ID: "shown", Deferred: true}},
			{Decision: &journal.Decision{ID: "kept"}},
			{Decision: &journal.Decision{ID: "first"}},
			{Settled: &journal.Settled{ID: "silent", Default: true}},
			{Settled: &journal.Settled{ID: "late", Default: true}},
			{Settled: &journal.Settled{ID: "late", Reward: 3}},
			{Shown: &journal.Shown{ID: "shown"}},
			{Feedback: &journal.Feedback{ID: "kept", Reward: 1, Kept: true}},
			{Feedback: &journal.Feedback{ID: "first", Reward: 2}},
		} {
			if r.Number = uint64(i); !yield(r, nil) {
				return
			}
		}
	}
	rewards, hidden, decided, err := outcomes(records)
	if must.M(err); !reflect.DeepEqual(rewards, map[string]float64{"silent": 0, "late": 3, "first": 2}) || len(decided) != 6 ||
		!hidden["never"] || hidden["shown"] {
		t.Errorf("got rewards %v, hidden decisions %v, decisions %v", rewards, hidden, decided)
	}
}
