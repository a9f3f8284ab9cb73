package agent_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// growing has agents to which arms can be added, in plain Go and by programs.
func growing(b string) map[string]agent.Config {
	out := map[string]agent.Config{}
	for _, name := range []string{"arms", "contextual"} {
		c := logged()[name]
		c.Backend, c.Pending = b, 1000
		out[name] = c
	}
	forgets := agent.Config{Backend: b, Seed: 4, Forget: 0.95, Waves: 10, Change: &agent.Change{Run: 20, Restart: true}}
	out["forgets"] = forgets.Contextual(3, 4)
	one := agent.Config{Backend: b, Seed: 4, Waves: 10}
	out["one"] = one.Contextual(1, 4)
	return out
}

// among returns a menu of all arms.
func among(r *rand.Rand, c agent.Config) agent.Menu {
	m := menu(r, c)
	m.Arms = nil
	return m
}

// only returns a menu of arm 0.
func only(r *rand.Rand, c agent.Config) agent.Menu {
	if m := menu(r, c); c.Encoding != nil {
		m.Arms = []int{0}
		return m
	}
	return agent.Menu{Actions: [][]float32{{0}}}
}

// lives makes n decisions and learns from them, in one goroutine.
func lives(a *agent.Agent, c agent.Config, r *rand.Rand, n int) (late []string) {
	for i := range n {
		d := must.M1(a.Decide(context.Background(), among(r, c)))
		if i%5 == 4 {
			late = append(late, d.ID)
			continue
		}
		f := agent.Feedback{ID: d.ID, Reward: float32(r.NormFloat64()) + float32(d.Action)}
		must.M(a.Observe(context.Background(), f))
	}
	return late
}

// Adding an arm, removing one and offering it again leave the beliefs about the other arms unchanged, to the byte. The
// new arm begins with the prior or with another arm's belief. The agent learns from a late reward of an arm that is not
// offered. An agent from the log, an agent from the file and the rest of the log, and the agent that continued are
// equal to the byte, at any record.
func TestArmsComeAndGo(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, b string) {
		for name, c := range growing(b) {
			if name != "arms" && (b != backend.Go || testing.Short()) {
				continue // not on XLA: the others learn in plain Go, or begin with the same programs
			}
			t.Run(name, func(t *testing.T) {
				path, log, r := filepath.Join(t.TempDir(), "agent"), &memory{}, rand.New(rand.NewPCG(1, 2))
				a := must.M1(agent.Open(c, path, log))
				n := len(a.Arms().Like)
				late := lives(a, c, r, 20)
				late = append(late, must.M1(a.Decide(t.Context(), only(r, c))).ID)
				before := a.Parts(n)
				must.M(a.Save(path))
				if got := must.M1(a.AddArm(agent.None)); got != n {
					t.Fatalf("the new arm has number %d, want the next one", got)
				}
				must.M1(a.AddArm(0))
				after := a.Parts(n + 2)
				if name != "one" && !reflect.DeepEqual(before, after[:n]) { // programs keep another root than plain Go
					t.Error("the beliefs about the other arms have changed")
				}
				if prior := must.M1(agent.New(c)).Parts(n)[0]; name != "arms" && !reflect.DeepEqual(prior, after[n]) {
					t.Error("the prior of the new arm differs from the first arm's prior")
				}
				if !reflect.DeepEqual(after[0], after[n+1]) {
					t.Error("the new arm does not begin with the belief about the arm that it names")
				}
				if reflect.DeepEqual(after[n], after[n+1]) {
					t.Error("the belief after data equals the prior")
				}
				late = append(late, lives(a, c, r, 30)...)
				must.M(a.RemoveArm(0))
				kept := a.Parts(n + 2)[0]
				lives(a, c, r, 20)
				if d := must.M1(a.Decide(t.Context(), among(r, c))); d.Probabilities[0] != 0 || len(d.Probabilities) != n+2 ||
					d.Prob() <= 0 {
					t.Errorf("arm that is not offered: got decision %v, want probability 0", d)
				}
				if name != "forgets" && !reflect.DeepEqual(kept, a.Parts(n + 2)[0]) {
					t.Error("the belief of the arm that is not offered has changed")
				}
				list := must.M1(a.DecideList(t.Context(), among(r, c), n+1))
				if last := list[n]; len(last.Probabilities) != n+2 || last.Prob() != 1 ||
					slices.ContainsFunc(list, func(d agent.Decision) bool { return d.Action == 0 }) {
					t.Errorf("list: got %v, want no arm that is not offered", list)
				}
				if e := must.M1(a.Explain(t.Context(), among(r, c), 4)); len(e) != n+2 {
					t.Errorf("got %d explanations, want one for each of the %d arms", len(e), n+2)
				}
				for _, id := range late {
					must.M(a.Observe(t.Context(), agent.Feedback{ID: id, Reward: 3}))
				}
				if name != "forgets" && reflect.DeepEqual(kept, a.Parts(n + 2)[0]) {
					t.Error("late rewards of the arm that is not offered were not learned")
				}
				kept = a.Parts(n + 2)[0]
				set := a.Arms()
				set.Offered = append([]int{n + 1, 0}, slices.DeleteFunc(set.Offered, func(arm int) bool { return arm > n })...)
				must.M(a.ChangeArms(set))
				if !reflect.DeepEqual(kept, a.Parts(n + 2)[0]) {
					t.Error("the arm that came back has another belief than before")
				}
				lives(a, c, r, 20)
				a.Close()

				resumed(t, c, path, log, a)
			})
		}
	})
}

// resumed compares an agent with the agents from its log and from its file.
func resumed(t *testing.T, c agent.Config, path string, log *memory, a *agent.Agent) {
	t.Helper()
	whole := must.M1(agent.Open(c, filepath.Join(t.TempDir(), "none"), log))
	rest := must.M1(agent.Open(c, path, log))
	later := filepath.Join(t.TempDir(), "later")
	must.M(rest.Save(later))
	loaded := must.M1(agent.Open(c, later, log))
	for _, b := range []*agent.Agent{whole, rest, loaded} {
		same(t, a.Whole(), b.Whole())
		if !reflect.DeepEqual(a.Arms(), b.Arms()) {
			t.Errorf("arms: %+v of the agent, %+v of the other one, want equal arms", a.Arms(), b.Arms())
		}
	}
	r, q := rand.New(rand.NewPCG(5, 5)), rand.New(rand.NewPCG(5, 5))
	for range 5 {
		d, e := must.M1(whole.Decide(t.Context(), among(r, c))), must.M1(loaded.Decide(t.Context(), among(q, c)))
		if !reflect.DeepEqual(d.Nameless(), e.Nameless()) {
			t.Errorf("decisions: %+v by the agent, %+v by the other one, want equal decisions", d, e)
		}
	}
	one := must.M1(agent.New(c))
	for i, data := range log.all[:len(log.all)-5] {
		must.M(one.Apply(must.M1(journal.Decode(data))))
		if r := must.M1(journal.Decode(data)); r.Arms == nil {
			continue
		}
		cut := must.M1(agent.Open(c, filepath.Join(t.TempDir(), "none"), &memory{all: slices.Clone(log.all[:i+1])}))
		same(t, one.Whole(), cut.Whole()) // killed right after the change
	}
}

// Decisions, rewards, samples and saves run during changes of arms, and none fails.
func TestArmsSideBySide(t *testing.T) {
	for name, c := range growing(backend.Go) {
		if testing.Short() && name != "arms" {
			continue
		}
		path, log := filepath.Join(t.TempDir(), "agent"), &memory{}
		a := must.M1(agent.Open(c, path, log))
		var all sync.WaitGroup
		for w := range 3 {
			all.Go(func() { lives(a, c, rand.New(rand.NewPCG(3, uint64(w))), 40) })
		}
		all.Go(func() {
			for range 4 {
				before := a.Snapshot()
				arm := must.M1(a.AddArm(0))
				must.M(a.RemoveArm(0))
				set := a.Arms()
				set.Offered = append(set.Offered, 0)
				must.M(a.ChangeArms(set))
				must.M(a.Save(path))
				must.M1(a.Drift())
				_ = a.String()
				x := must.M1(a.Inputs(among(rand.New(rand.NewPCG(1, 1)), c)))
				if x == nil {
					x = [][]float32{{float32(arm)}}
				}
				must.M1(a.Sample(x[len(x)-1:], 2))
				if _, err := before.Sample(x[len(x)-1:], 2); err == nil {
					t.Errorf("%s: a Snapshot from before the change has arm %d", name, arm)
				}
				before.Close()
			}
		})
		all.Wait()
		a.Close()
		b := must.M1(agent.Open(c, path, log))
		b.Close()
		same(t, a.Whole(), b.Whole())
	}
}

// A wrong change of arms returns one error that says what is wrong, and changes nothing.
func TestArmsRefused(t *testing.T) {
	c := growing("")["contextual"]
	a := must.M1(agent.New(c))
	neural := must.M1(agent.New(agent.Config{}.ContextualNeural(3, 4, 4)))
	stale := a.Arms()
	stale.Like = append(stale.Like, agent.None)
	prepared := must.M1(a.PrepareArms(stale))
	must.M1(a.AddArm(1))
	before := a.Whole()
	for want, err := range map[string]error{
		"the arms have changed since they were read": prepared(),
		"Like must begin with the Like of the 4 existing arms, [-1 -1 -1 1], got [-1 -1 -1]": a.ChangeArms(
			agent.ArmSet{First: 3, Like: []int{-1, -1, -1}, Offered: []int{0}}),
		"arm 4 cannot begin like arm 4: want one of 0 to 3, or None": must2(a.AddArm(4)),
		"arm 9 is not offered":               a.RemoveArm(9),
		"Offered must have at least one arm": a.ChangeArms(agent.ArmSet{First: 3, Like: a.Arms().Like}),
		"Offered must be different arms of 0 to 3, got [1 1]": a.ChangeArms(agent.ArmSet{First: 3, Like: a.Arms().Like,
			Offered: []int{1, 1}}),
		"Names must be empty, or have one for each of the 4 arms, got 1": a.ChangeArms(agent.ArmSet{First: 3,
			Like: a.Arms().Like, Offered: []int{1}, Names: []string{"a"}}),
		"the agent has no arms: its actions have numbers": must.M1(agent.Linear(3)).ChangeArms(agent.ArmSet{}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	same(t, before, a.Whole())
	if _, err := neural.AddArm(agent.None); !errors.Is(err, agent.ErrLearnAnew) {
		t.Errorf("AddArm of an agent with networks: got error %v, want ErrLearnAnew", err)
	}
	must.M(neural.RemoveArm(1))
	m := agent.Menu{Context: []float32{1, 2, 3, 4}}
	if d := must.M1(neural.Decide(t.Context(), m)); d.Probabilities[1] != 0 || len(d.Probabilities) != 3 {
		t.Errorf("networks without arm 1: got decision %v, want probability 0 for arm 1", d)
	}
	a.Close()
	if _, err := a.AddArm(0); !errors.Is(err, agent.ErrClosed) {
		t.Errorf("AddArm of a closed agent: got error %v, want ErrClosed", err)
	}
	path := filepath.Join(t.TempDir(), "agent")
	b := must.M1(agent.New(c))
	must.M(b.Save(path))
	reader := must.M1(agent.Reader(c, path, 7))
	must.M1(b.AddArm(0))
	must.M(b.Save(path))
	must.M(reader.Refresh(path))
	if !reflect.DeepEqual(reader.Arms(), b.Arms()) {
		t.Errorf("the reader has the arms %+v, want the agent's %+v", reader.Arms(), b.Arms())
	}
	if d := must.M1(reader.Decide(t.Context(), m)); len(d.Probabilities) != 4 {
		t.Errorf("the reader decides among %d arms, want 4", len(d.Probabilities))
	}
	if _, err := reader.AddArm(0); err == nil || !strings.Contains(err.Error(), "come from the file") {
		t.Errorf("AddArm of a reader: got error %v, want one that says that arms come from the file", err)
	}
}

func must2(_ int, err error) error { return err }

// A shop adds a page that resembles a present one, and then removes a page.
func ExampleAgent_AddArm() {
	shop, ctx := must.M1(agent.Contextual(2, 1)), context.Background()
	young := agent.Menu{Context: []float32{20}}
	d := must.M1(shop.Decide(ctx, young))
	newer := must.M1(shop.AddArm(1))                               // like arm 1; agent.None begins with the prior
	must.M(shop.RemoveArm(0))                                      // its belief stays
	must.M(shop.Observe(ctx, agent.Feedback{ID: d.ID, Reward: 1})) // also of arm 0
	fmt.Println(newer, shop.Arms().Offered, must.M1(shop.Decide(ctx, young)).Probabilities[0])
	// Output: 2 [1 2] 0
}
