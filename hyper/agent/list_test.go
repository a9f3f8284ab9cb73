package agent

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

func ExampleAgent_DecideList() {
	a := must.M1(Arms(4))
	list := must.M1(a.DecideList(context.Background(), Menu{}, 3))
	must.M(a.Observe(context.Background(), Feedback{ID: list[1].ID, Reward: 1})) // the second place was clicked
	fmt.Println(len(list), list[0].Action != list[1].Action)
	// Output: 3 true
}

// The places of a list have different actions. Each place has an ID and a probability among the remaining actions, so
// that the mean of 1/probability over the first two places is the number of ordered pairs. Each place learns from its
// own reward.
func TestDecideList(t *testing.T) {
	menus := map[string]Menu{"all arms": {Context: []float32{1}}, "some arms": {Context: []float32{1}, Arms: []int{3, 1, 2}}}
	for name, m := range menus {
		a := must.M1(New(Config{Floor: 1}.Contextual(4, 1)))
		arms := m.Arms
		if arms == nil {
			arms = []int{0, 1, 2, 3}
		}
		k := len(arms)
		seen := map[[2]int]int{}
		for range 600 {
			list := must.M1(a.DecideList(t.Context(), m, 2))
			first, second := list[0], list[1]
			seen[[2]int{first.Action, second.Action}]++
			if first.Action == second.Action || first.ID == second.ID || len(second.Probabilities) != k ||
				second.Probabilities[first.Action] != 0 || notFinite(second.Prob()) ||
				second.Prob() < 0.99/float64(k-1) || second.Prob() > 1.01/float64(k-1) {
				t.Fatalf("%s: got list %+v, want a second place that is uniform over the other actions", name, list)
			}
		}
		if len(seen) != k*(k-1) {
			t.Errorf("%s: got %d pairs of %d actions, want each pair: %v", name, len(seen), k, seen)
		}
		for pair, n := range seen {
			if want := 600 / float64(k*(k-1)); float64(n) < want/2 || float64(n) > want*2 {
				t.Errorf("%s: pair %v was chosen %d times, want some %.0f", name, pair, n, want)
			}
		}
		list := must.M1(a.DecideList(t.Context(), m, k))
		for i, d := range list {
			x := must.M1(a.pending.lookUp(d.ID, time.Time{})).x
			if int(x[0]) != arms[d.Action] {
				t.Errorf("%s: place %d has arm %d, but its reward is for arm %v", name, i, arms[d.Action], x[0])
			}
		}
		if m.Arms != nil && !slices.Equal(m.Arms, []int{3, 1, 2}) {
			t.Errorf("DecideList changed the menu: %v", m.Arms)
		}
	}
}

// Arms without a context, and actions with features, make lists too. A length that exceeds the menu is refused.
func TestDecideListOfActions(t *testing.T) {
	arms := must.M1(Arms(3))
	list := must.M1(arms.DecideList(t.Context(), Menu{}, 3))
	got := []int{list[0].Action, list[1].Action, list[2].Action}
	if slices.Sort(got); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("got list %v, want each of the actions 0, 1 and 2 once", list)
	}
	linear := must.M1(Linear(2))
	actions := [][]float32{{1, 0}, {0, 1}, {1, 1}}
	list = must.M1(linear.DecideList(t.Context(), Menu{Actions: actions}, 3))
	if list[2].Prob() != 1 || len(actions) != 3 || actions[2][0] != 1 {
		t.Errorf("got list %v of actions %v, want probability 1 in the last place and unchanged actions", list, actions)
	}
	for _, n := range []int{0, -1, 4} {
		if _, err := linear.DecideList(t.Context(), Menu{Actions: actions}, n); err == nil {
			t.Errorf("list with %d places for 3 actions: got no error", n)
		}
	}
	if _, err := linear.DecideList(t.Context(), Menu{}, 1); err == nil {
		t.Error("empty menu: got no error")
	}
	twice := [][]float32{{1}, {2}, {1}}
	_, err := arms.DecideList(t.Context(), Menu{Actions: twice}, 1)
	_, acted := arms.Act(t.Context(), twice)
	for what, err := range map[string]error{"DecideList": err, "Act": acted} {
		if err == nil || err.Error() != "arm 1 is given twice" {
			t.Errorf("%s of an arm twice: got error %v, want one about arm 1", what, err)
		}
	}
	if err := arms.Apply(journal.Record{Decision: &journal.Decision{ID: "9-00000000", Actions: twice}}); err != nil {
		t.Errorf("decision of an earlier version, with an arm twice: got error %v, want none", err)
	}
}
