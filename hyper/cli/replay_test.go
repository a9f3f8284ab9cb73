package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/serve/offline"
)

// program writes the log of an agent that a program opens, in dir/log; turn makes a decision and takes its reward.
func program(t *testing.T, dir string, c agent.Config, turns int, turn func(i int, a *agent.Agent)) {
	t.Helper()
	log := must.M1(durable.Open(filepath.Join(dir, "log"), durable.Options{Sync: durable.None}))
	a := must.M1(agent.Open(c, filepath.Join(dir, "file"), log))
	for i := range turns {
		turn(i, a)
	}
	a.Close()
	must.M(log.Close())
}

// The log of a program that calls agent.Open is read with the names of a file, in their order, from its own folder or
// from the parent. Rewards are 1 only for arm 1, so an agent that has learned from them does better than the log. Data
// that the program added without decisions are left out, with a message. A file that does not fit is refused.
func TestLogOfProgram(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	c := agent.Config{Floor: 1}.Contextual(2, 1)
	program(t, dir, c, 200, func(i int, a *agent.Agent) {
		if i == 0 {
			must.M(a.Add([]float32{0, 1}, 0.5))
		}
		d := must.M1(a.Decide(ctx, agent.Menu{Context: []float32{float32(i % 5)}}))
		must.M(a.Observe(ctx, agent.Feedback{ID: d.ID, Reward: float32(d.Action)}))
	})
	file := written(t, "other.json", `{"arms": ["a", "b"], "context": {"names": ["x"]}, "set": {"waves": 5}}`)
	for _, of := range []string{dir, filepath.Join(dir, "log")} {
		status, out, stderr := call(t, "evaluate", of, "--agent", file, "--json")
		var e offline.Evaluation
		if status == 0 {
			must.M(json.Unmarshal([]byte(out), &e))
		}
		if e.Decisions != 200 || e.Evaluated != 100 || !strings.Contains(stderr, "left out 1 data") {
			t.Fatalf("exit status %d, got %+v, want 200 decisions, 100 evaluated, 1 left out: %s", status, e, stderr)
		}
		for _, v := range e.Estimators[1:] {
			if v.Refused != "" || v.Value < 0.9 || v.Lower < e.Estimators[0].Upper {
				t.Errorf("got estimate %+v, want a better one than the log's own %+v", v, e.Estimators[0])
			}
		}
	}
	to := filepath.Join(dir, "to")
	if status, out, stderr := call(t, "replay", dir, "--agent", file, "--to", to); status != 0 ||
		!strings.Contains(out, "learned from 200 rewards") || !strings.Contains(stderr, "left out 1 data") {
		t.Errorf("exit status %d, want 0 and 200 learned rewards: %s %s", status, out, stderr)
	}
	for want, text := range map[string]string{
		"the file has a context of 2, for its names": `{"arms": ["a", "b"], "context": {"names": ["x", "y"]}}`,
		"chooses among 2 arms, and the file has 3":   `{"arms": ["a", "b", "c"], "context": {"names": ["x"]}}`,
		"want the file to have arms instead":         `{"context": {"names": ["x"]}, "action": {"names": ["y"]}}`,
		"a context of 1 numbers, and the file":       `{"arms": ["a", "b"]}`,
	} {
		for _, args := range [][]string{{"evaluate", dir}, {"replay", dir, "--to", filepath.Join(dir, "new")}} {
			status, _, stderr := call(t, append(args, "--agent", written(t, "wrong.json", text))...)
			if status != exitBadInput || !strings.Contains(stderr, "record 1 does not fit") ||
				!strings.Contains(stderr, want) {
				t.Errorf("%s of %s: %d %s, want %q", args[0], text, status, stderr, want)
			}
		}
	}
	refused(t, []string{"evaluate", dir}, "with --agent FILE")
}

// Some of the arms, without a context, are actions with one number. In other logs the numbers are features, whose count
// must match.
func TestLogOfProgramWithActions(t *testing.T) {
	if testing.Short() {
		t.Skip("replays logs")
	}
	arms, features, late, ctx := t.TempDir(), t.TempDir(), t.TempDir(), t.Context()
	take := func(a *agent.Agent, actions [][]float32, weight float32) {
		d := must.M1(a.Act(ctx, actions))
		must.M(a.Observe(ctx, agent.Feedback{ID: d.ID, Reward: float32(d.Action), Weight: weight}))
	}
	c := agent.Config{Floor: 1}.Arms(3)
	c.Learner.Train.Weighted = true
	program(t, arms, c, 40, func(_ int, a *agent.Agent) { take(a, [][]float32{{2}, {0}}, 2) })
	program(t, late, agent.Config{Floor: 1}.Arms(3), 20, func(_ int, a *agent.Agent) {
		first, next := must.M1(a.Act(ctx, nil)), must.M1(a.Act(ctx, nil))
		must.M(a.Observe(ctx, agent.Feedback{ID: next.ID}, agent.Feedback{ID: first.ID}))
	})
	program(t, features, agent.Config{Floor: 1}.Linear(2), 40, func(_ int, a *agent.Agent) {
		take(a, [][]float32{{2, 1}, {1, 2}}, 0)
	})
	three := `"arms": ["a", "b", "c"]`
	for _, one := range []struct{ dir, text, want string }{
		{arms, `{` + three + `}`, ""},
		{arms, `{"arms": ["a", "b"]}`, "may take arm 2, counted from 0, and the file has 2 arms"},
		{arms, `{"action": {"names": ["x", "y"]}}`, "the actions have 1 numbers each, and action in the file has 2"},
		{arms, `{` + three + `, "learner": "linear", "set": {"integrate": "analytic"}}`, "has weight 2, and the"},
		{arms, `{` + three + `, "floor": 2}`, "floor must be at most 1"},
		{arms, `{` + three + `, "expire": "1ns"}`, ""}, // the log says when rewards came
		{late, `{` + three + `, "pending": 1}`, "raise pending in the agent's file"},
		{features, `{"action": {"names": ["x"], "buckets": 1}}`, ""},
		{features, `{` + three + `}`, "want the file to have action"},
	} {
		status, _, stderr := call(t, "evaluate", one.dir, "--agent", written(t, "agent.json", one.text))
		if want := min(len(one.want), 1) * exitBadInput; status != want || !strings.Contains(stderr, one.want) {
			t.Errorf("%s: %d %s, want %q", one.text, status, stderr, one.want)
		}
	}
}

// If a log does not allow an estimate, the message uses the terms of the command and of the agent's file.
func TestEvaluateRefuses(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	program(t, dir, agent.Config{Floor: -1}.Arms(2), 100, func(_ int, a *agent.Agent) {
		d := must.M1(a.Act(ctx, nil))
		must.M(a.Observe(ctx, agent.Feedback{ID: d.ID, Reward: 10 * float32(d.Action)}))
	})
	file := written(t, "agent.json", `{"arms": ["a", "b"], "floor": 1}`)
	status, out, stderr := call(t, "evaluate", dir, "--agent", file)
	for _, want := range []string{"by floor in its file", "by a smaller --learn"} {
		if status != 0 || !strings.Contains(out, want) || strings.Contains(out, "Options") ||
			strings.Contains(out, "Config") {
			t.Errorf("%d %s %s, want %q", status, out, stderr, want)
		}
	}
}
