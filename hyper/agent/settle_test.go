package agent_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// silent is the most common Reward of services: no click within an hour is a reward of y.
func silent(y float32) agent.Reward { return agent.Reward{Wait: time.Hour, Default: &y} }

// combined is a Reward with a Wait of an hour and without a default.
func combined(c agent.Combine) agent.Reward { return agent.Reward{Wait: time.Hour, Combine: c} }

// learnedOf returns the responses of the data that an agent keeps.
func learnedOf(a *agent.Agent) (y []float32) {
	for _, d := range must.M1(a.Data()) {
		y = append(y, d.Y)
	}
	return y
}

// The test replays sequences of events of one decision: rewards, "shown", and "over", two hours later. An agent that
// replays the log is equal to the bit.
func TestSettling(t *testing.T) {
	if testing.Short() {
		t.Skip("replays many logs")
	}
	sum := combined(agent.Sum)
	zero := float32(0)
	sum.Default = &zero
	for _, x := range []struct {
		name     string
		reward   agent.Reward
		deferred bool
		what     []any
		want     []float32 // the responses learned
	}{
		{"silence without a default", agent.Reward{}, false, []any{"over"}, nil},
		{"silence", silent(-1), false, []any{"over"}, []float32{-1}},
		{"silence is learned once", silent(-1), false, []any{"over", "over"}, []float32{-1}},
		{"a reward in time", silent(-1), false, []any{3.0, "over"}, []float32{3}},
		{"a reward in time is learned at once", silent(-1), false, []any{3.0}, []float32{3}},
		{"a late reward", silent(-1), false, []any{"over", 3.0}, []float32{3}},
		{"a late reward that is the default", silent(-1), false, []any{"over", -1.0, 3.0}, []float32{-1}},
		{"a second reward", silent(-1), false, []any{3.0, 4.0, "over", 5.0}, []float32{3}},
		{"a second late reward", silent(-1), false, []any{"over", 3.0, 4.0}, []float32{3}},
		{"a sum is not learned at once", sum, false, []any{3.0, 4.0}, nil},
		{"a sum", sum, false, []any{3.0, 4.0, "over"}, []float32{7}},
		{"a late part of a sum", sum, false, []any{3.0, "over", 4.0, 1.0}, []float32{8}},
		{"a sum of late rewards", silentSum(5), false, []any{"over", 4.0, 1.0}, []float32{5}},
		{"a sum without rewards or a default", combined(agent.Sum), false, []any{"over"}, nil},
		{"the same, and late rewards", combined(agent.Sum), false, []any{"over", 2.0, "over", 3.0}, []float32{5}},
		{"the largest", combined(agent.Maximum), false, []any{3.0, 4.0, 1.0, "over"}, []float32{4}},
		{"a larger one is late", combined(agent.Maximum), false, []any{3.0, "over", 2.0, 6.0, 5.0}, []float32{6}},
		{"the last", combined(agent.Last), false, []any{3.0, 4.0, 1.0, "over"}, []float32{1}},
		{"the last is late", combined(agent.Last), false, []any{3.0, "over", 6.0, 5.0}, []float32{5}},
		{"deferred, never shown", silent(-1), true, []any{"over"}, nil},
		{"deferred and shown", silent(-1), true, []any{"shown", "over"}, []float32{-1}},
		{"deferred, shown twice", silent(-1), true, []any{"shown", "shown", "over"}, []float32{-1}},
		{"deferred, a reward says that it was shown", silent(-1), true, []any{3.0, "over"}, []float32{3}},
		{"the same of a sum", sum, true, []any{3.0, 4.0, "over"}, []float32{7}},
		{"deferred, shown and late", silent(-1), true, []any{"shown", "over", 2.0}, []float32{2}},
		{"deferred, without a wait", agent.Reward{}, true, []any{2.0, "shown"}, []float32{2}},
		{"shown without being deferred", silent(-1), false, []any{"shown", "over"}, []float32{-1}},
	} {
		t.Run(x.name, func(t *testing.T) {
			c, log := sgd(), &memory{}
			c.Reward = x.reward
			a := must.M1(agent.Open(c, "none", log))
			defer a.Close()
			d := must.M1(a.Decide(t.Context(), agent.Menu{Deferred: x.deferred}))
			for _, what := range x.what {
				switch what := what.(type) {
				case float64:
					must.M(a.Observe(t.Context(), agent.Feedback{ID: d.ID, Reward: float32(what)}))
				case string:
					if what == "shown" {
						must.M(a.Shown(t.Context(), d.ID))
					} else {
						must.M(a.SettleAt(time.Now().Add(2 * time.Hour)))
					}
				}
			}
			if got := learnedOf(a); fmt.Sprint(got) != fmt.Sprint(x.want) {
				t.Errorf("learned %v, want %v", got, x.want)
			}
			b := must.M1(agent.Open(c, "none", log))
			defer b.Close()
			same(t, a.Whole(), b.Whole())
			path := filepath.Join(t.TempDir(), "agent")
			must.M(a.Save(path))
			b = must.M1(agent.Open(c, path, log))
			defer b.Close()
			same(t, a.Whole(), b.Whole())
			if y, ok := b.Settled(d.ID); x.reward != (agent.Reward{}) && (ok != (len(x.want) == 1) || ok && y != x.want[0]) {
				t.Errorf("the decision is settled with %v, %v, want the learned reward", y, ok)
			}
		})
	}
}

func silentSum(y float32) agent.Reward {
	r := silent(y)
	r.Combine = agent.Sum
	return r
}

// A late reward corrects a default before Expire, and is refused after it.
func TestLateRewardExpires(t *testing.T) {
	c := sgd()
	c.Reward, c.Expire = silent(0), 3*time.Hour
	a := must.M1(agent.New(c))
	defer a.Close()
	one, two := must.M1(a.Act(t.Context(), nil)), must.M1(a.Act(t.Context(), nil))
	must.M(a.SettleAt(time.Now().Add(2 * time.Hour)))
	must.M(a.ObserveAt(agent.Feedback{ID: one.ID, Reward: 1}, time.Now().Add(2*time.Hour)))
	err := a.ObserveAt(agent.Feedback{ID: two.ID, Reward: 1}, time.Now().Add(4*time.Hour))
	if !errors.Is(err, agent.ErrExpired) || fmt.Sprint(learnedOf(a)) != "[1 0]" {
		t.Errorf("got error %v and learned %v, want ErrExpired and [1 0]", err, learnedOf(a))
	}
	if n := a.Settlements(); n != (agent.Settlements{Default: 2, Late: 1}) {
		t.Errorf("settlements: got %+v, want 2 defaults and 1 late reward", n)
	}
}

// A reward that cannot be combined is refused, and the earlier rewards stay.
func TestRewardsThatDoNotFit(t *testing.T) {
	c := sgd()
	c.Reward = combined(agent.Sum)
	c.Learner.Train.Weighted = true
	a := must.M1(agent.New(c))
	defer a.Close()
	id := must.M1(a.Act(t.Context(), nil)).ID
	must.M(a.Observe(t.Context(), agent.Feedback{ID: id, Reward: 8e17, Weight: 2}))
	for want, f := range map[string]agent.Feedback{
		"the weight must equal the weight of the earlier reward, 2, got 1":  {ID: id, Reward: 1},
		"combined with the earlier rewards by sum: the reward is too large": {ID: id, Reward: 8e17, Weight: 2},
		"the reward is too large": {ID: id, Reward: float32(math.NaN()), Weight: 2},
	} {
		if err := a.Observe(t.Context(), f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	must.M(a.SettleAt(time.Now().Add(2 * time.Hour)))
	if got := learnedOf(a); len(got) != 1 || got[0] != 8e17 {
		t.Errorf("learned %v, want [8e17]", got)
	}
	if err := a.Shown(t.Context(), "7-00000000", id); !errors.Is(err, agent.ErrUnknown) {
		t.Errorf("Shown: got error %v, want ErrUnknown", err)
	}
}

// An agent that learned a default and was corrected later has the belief of an agent that got the reward at once; for
// exact training, exactly.
func TestCorrectionIsExact(t *testing.T) {
	few := agent.Config{Backend: backend.Go, Seed: 3, Reward: silent(0)}
	for name, c := range map[string]agent.Config{"arms": few.Arms(3), "linear": few.Linear(2), "contextual": few.Contextual(3, 2)} {
		learn := func(late bool) [][]float32 {
			a := must.M1(agent.New(c))
			defer a.Close()
			var made []agent.Decision
			for i := range 12 {
				m := agent.Menu{}
				switch name {
				case "linear":
					m.Actions = [][]float32{{float32(i), 1}}
				case "contextual":
					m.Context, m.Arms = []float32{float32(i), float32(i % 3)}, []int{i % 3}
				default:
					m.Actions = [][]float32{{float32(i % 3)}}
				}
				made = append(made, must.M1(a.Decide(t.Context(), m)))
			}
			if late {
				must.M(a.SettleAt(time.Now().Add(2 * time.Hour)))
			}
			for i, d := range made {
				must.M(a.Observe(t.Context(), agent.Feedback{ID: d.ID, Reward: float32(i*i%7) + 3}))
			}
			if a.Size() != 12 {
				t.Fatalf("got %d data, want 12", a.Size())
			}
			x := [][]float32{{0}, {1}, {2}}
			switch name {
			case "linear":
				x = [][]float32{{1, 1}, {-3, 2}}
			case "contextual":
				x = [][]float32{{0, 1, 1}, {1, -1, 0.5}, {2, 0, 0}}
			}
			return must.M1(a.Sample(x, 4))
		}
		at, late := learn(false), learn(true)
		for i := range at {
			for j := range at[i] {
				if math.Abs(float64(at[i][j]-late[i][j])) > 1e-4*(1+math.Abs(float64(at[i][j]))) {
					t.Errorf("%s: told at once %v, told late %v, want equal functions", name, at, late)
				}
			}
		}
	}
}

// If data are replayed, a correction changes the rows that still hold the decision's datum, and nothing else.
func TestCorrectionOfRows(t *testing.T) {
	for _, replay := range []agent.Replay{agent.Growth, agent.Reservoir, agent.Window} {
		testbackend.ForEach(t, func(t *testing.T, on string) {
			if on != backend.Go && replay != agent.Reservoir { // XLA takes seconds to compile
				return
			}
			c := sgd()
			c.Backend, c.Replay, c.Learner.Train.Capacity, c.Reward = on, replay, 6, silent(-1)
			learn := func(late bool) []float32 {
				a := must.M1(agent.New(c))
				defer a.Close()
				var made []agent.Decision
				for range 15 {
					made = append(made, must.M1(a.Act(t.Context(), nil)))
				}
				if late {
					must.M(a.SettleAt(time.Now().Add(2 * time.Hour)))
				}
				for i, d := range made {
					must.M(a.Observe(t.Context(), agent.Feedback{ID: d.ID, Reward: float32(i)}))
				}
				return learnedOf(a)
			}
			if at, late := learn(false), learn(true); len(at) != 6 || fmt.Sprint(at) != fmt.Sprint(late) {
				t.Errorf("%s: told at once %v, told late %v, want equal data", replay, at, late)
			}
		})
	}
}

// A reward that arrives after a restart does not correct data that the agent has forgotten.
func TestCorrectionAfterRestart(t *testing.T) {
	c := agent.Config{Backend: backend.Go, Change: &agent.Change{Run: 100, Restart: true}, Reward: silent(0)}.Arms(2)
	a := must.M1(agent.New(c))
	defer a.Close()
	first := must.M1(a.Act(t.Context(), nil))
	must.M(a.SettleAt(time.Now().Add(2 * time.Hour)))
	for i := 0; a.Alarms().Count == 0 && i < 500; i++ {
		y := float32(i%5) / 5
		if i > 60 {
			y += 30
		}
		must.M(a.Observe(t.Context(), agent.Feedback{ID: must.M1(a.Act(t.Context(), nil)).ID, Reward: y}))
	}
	if a.Alarms().Count == 0 {
		t.Fatal("got no alarm after the change")
	}
	before := a.Whole()
	must.M(a.Observe(t.Context(), agent.Feedback{ID: first.ID, Reward: 9}))
	after := a.Whole()
	for _, what := range []string{"data", "decisions"} { // a round more, and what the decision got
		if before[what] == after[what] {
			t.Errorf("part %s did not change", what)
		}
		delete(before, what)
	}
	same(t, before, after)
}

// An agent that does not wait settles kept rewards at once.
func TestSettlingWithoutWait(t *testing.T) {
	c, path := sgd(), filepath.Join(t.TempDir(), "agent")
	c.Reward = combined(agent.Sum)
	a := must.M1(agent.New(c))
	d := must.M1(a.Act(t.Context(), nil))
	must.M(a.Observe(t.Context(), agent.Feedback{ID: d.ID, Reward: 3}, agent.Feedback{ID: d.ID, Reward: 4}))
	must.M(a.Save(path))
	a.Close()
	c.Reward = agent.Reward{}
	b := must.M1(agent.Load(c, path))
	defer b.Close()
	for begun := time.Now(); b.Size() < 1 && time.Since(begun) < 20*time.Second; {
		time.Sleep(time.Millisecond)
	}
	if got := learnedOf(b); len(got) != 1 || got[0] != 7 {
		t.Errorf("learned %v, want [7]", got)
	}
}

// A decision that is pushed out by Pending later ones is settled before it is forgotten.
func TestSettlingBeforeForgetting(t *testing.T) {
	c, log := sgd(), &memory{}
	c.Pending, c.Reward = 3, silent(-1)
	a := must.M1(agent.Open(c, "none", log))
	defer a.Close()
	for i := range 5 {
		d := must.M1(a.Decide(t.Context(), agent.Menu{Deferred: i == 1}))
		if i == 0 {
			must.M(a.Observe(t.Context(), agent.Feedback{ID: d.ID, Reward: 2}))
		}
	}
	must.M1(a.Act(t.Context(), nil)) // the third decision leaves; the second was never shown
	if got := fmt.Sprint(learnedOf(a)); got != "[2 -1]" {
		t.Errorf("learned %v, want [2 -1]", got)
	}
	b := must.M1(agent.Open(c, "none", log))
	defer b.Close()
	same(t, a.Whole(), b.Whole())
}

// The agent settles decisions when the wait is over, without a call. It also settles decisions from before it was
// closed, once.
func TestSettlingByItself(t *testing.T) {
	c, log, ctx := sgd(), &memory{}, context.Background()
	c.Reward = silent(-1)
	c.Reward.Wait = 30 * time.Millisecond
	a := must.M1(agent.Open(c, "none", log))
	settles := func(a *agent.Agent, n int) {
		t.Helper()
		for begun := time.Now(); a.Size() < n && time.Since(begun) < 20*time.Second; {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(10 * time.Millisecond)
		if a.Size() != n || a.LearnerError() != nil {
			t.Fatalf("%d data, want %d; %v", a.Size(), n, a.LearnerError())
		}
	}
	for range 3 {
		must.M1(a.Act(ctx, nil))
	}
	settles(a, 3)
	must.M1(a.Act(ctx, nil))
	must.M1(a.Decide(ctx, agent.Menu{Deferred: true}))
	a.Close()
	n := a.Size()
	time.Sleep(50 * time.Millisecond)
	if n != a.Size() {
		t.Error("the agent settled a decision after Close")
	}
	path := filepath.Join(t.TempDir(), "agent")
	must.M(a.Save(path))
	for range 2 {
		b := must.M1(agent.Open(c, path, log))
		settles(b, 4)
		b.Close()
	}
}

// When a log is replayed, its records settle the decisions that wait. After Continue, the clock settles them.
func TestReplaySettlesNothing(t *testing.T) {
	c, log := sgd(), &memory{}
	c.Reward = silent(-1)
	a := must.M1(agent.Open(c, "none", log))
	d := must.M1(a.Act(t.Context(), nil))
	a.Close()
	b := must.M1(agent.New(c))
	defer b.Close()
	for r, err := range log.All(0) {
		must.M(err)
		r.Time -= int64(5 * time.Hour)
		must.M(b.Apply(r))
	}
	time.Sleep(20 * time.Millisecond)
	if err := b.SettleAt(time.Now()); err == nil || b.Size() != 0 {
		t.Errorf("SettleAt during a replay: got error %v and %d data, want an error and 0", err, b.Size())
	}
	must.M(b.Continue(log))
	y, ok := b.Settled(d.ID)
	for begun := time.Now(); !ok && time.Since(begun) < 20*time.Second; y, ok = b.Settled(d.ID) {
		time.Sleep(time.Millisecond)
	}
	if !ok || y != -1 {
		t.Errorf("settled reward: got %v, %v, want -1", y, ok)
	}
	for r, err := range log.All(1) {
		if must.M(err); r.Settled == nil || *r.Settled != (journal.Settled{ID: d.ID, Reward: -1, Weight: 1, Default: true}) {
			t.Errorf("got record %+v, want a default reward of -1", r)
		}
	}
}

// A missing click is never reported: after a while the agent learns a reward of 0, and a late click corrects it.
func ExampleReward() {
	none := float32(0)
	c := agent.Config{Reward: agent.Reward{Wait: 10 * time.Millisecond, Default: &none}} // in a service: 10 minutes
	bandit, ctx := must.M1(agent.New(c.Arms(2))), context.Background()
	defer bandit.Close()
	shown := must.M1(bandit.Act(ctx, nil))
	for _, ok := bandit.Settled(shown.ID); !ok; _, ok = bandit.Settled(shown.ID) {
		time.Sleep(time.Millisecond)
	}
	fmt.Println(bandit.Settled(shown.ID))
	must.M(bandit.Observe(ctx, agent.Feedback{ID: shown.ID, Reward: 1}))
	fmt.Println(bandit.Settled(shown.ID))
	// Output:
	// 0 true
	// 1 true
}
