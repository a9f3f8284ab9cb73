package agent_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
)

// An agent prints as one line.
func ExampleAgent_String() {
	bandit, ctx := must.M1(agent.Arms(3)), context.Background()
	shown := must.M1(bandit.Act(ctx, [][]float32{{2}}))
	must.M1(bandit.Act(ctx, nil))
	must.M(bandit.Observe(ctx, agent.Feedback{ID: shown.ID, Reward: 1}))
	fmt.Println(bandit)
	shown.ID = "0-4e1f"
	fmt.Println(shown)
	// Output:
	// agent with 3 arms: hyper.Linear of base.Tabular; decisions: 2, rewards: 1
	// action 0 of 1, with probability 1, decision 0-4e1f
}

func TestString(t *testing.T) {
	if got := fmt.Sprint(agent.Config{}, agent.Decision{Action: 3}); got != "arms: no belief action 3" {
		t.Error(got)
	}
	both := agent.Config{Encoding: &agent.Encoding{Context: 3, Action: 2}}
	for want, c := range map[string]agent.Config{
		"actions of 2 numbers: hyper.Linear of base.Linear":               agent.Config{}.Linear(2),
		"actions of 4 numbers: hyper.Ensemble of base.MLP":                agent.Config{}.Neural(4, 8),
		"3 arms in a context of 5 numbers: hyper.BayesianLinear":          agent.Config{}.Contextual(3, 5),
		"actions of 2 numbers in a context of 3 numbers: hyper.Linear of": both.Linear(5),
	} {
		if got := fmt.Sprint(c); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	c := agent.Config{}.Linear(2)
	a := must.M1(agent.New(c))
	path := filepath.Join(t.TempDir(), "a")
	must.M(a.Save(path))
	s := a.Snapshot()
	defer s.Close()
	for want, v := range map[string]any{
		"agent with actions of 2 numbers: hyper.Linear of base.Linear; decisions: 0, rewards: 0": a,
		"snapshot of an agent with actions of 2 numbers: hyper.Linear of base.Linear":            s,
		"reader of an agent with actions of 2 numbers: hyper.Linear of base.Linear; decisions: 0, rewards: 0": must.M1(
			agent.Reader(c, path, 1)),
	} {
		if got := fmt.Sprint(v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
