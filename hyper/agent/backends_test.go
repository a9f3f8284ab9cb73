package agent_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
)

// An agent takes the same decisions on both backends for one seed, until a rounding error changes one; its
// probabilities differ only by rounding. An agent saved on one backend continues on the other.
func TestSameDecisionsOnBothBackends(t *testing.T) {
	agent.NotInShort(t)
	if err := backend.Check(backend.XLACPU); err != nil {
		t.Skip(err)
	}
	for name, c := range logged() {
		if c.Background != nil { // when it trains is not the seed's to say
			continue
		}
		t.Run(name, func(t *testing.T) {
			with := func(b string) (d agent.Config) {
				d = c
				d.Backend = b
				return d
			}
			one, two := must.M1(agent.New(with(backend.Go))), must.M1(agent.New(with(backend.XLACPU)))
			r := rand.New(rand.NewPCG(3, 3))
			if n := alike(t, r, c, one, two, 60); n < 50 {
				t.Errorf("the backends' decisions differ after %d decisions, want at least 50", n)
			}
			dir := t.TempDir()
			must.M(one.Save(filepath.Join(dir, "go")))
			must.M(two.Save(filepath.Join(dir, "xla")))
			onXLA := must.M1(agent.Load(with(backend.XLACPU), filepath.Join(dir, "go")))
			onGo := must.M1(agent.Load(with(backend.Go), filepath.Join(dir, "xla")))
			if n := alike(t, r, c, one, onXLA, 10); n < 10 {
				t.Errorf("saved on go, loaded on xla:cpu: the decisions differ after %d", n)
			}
			if n := alike(t, r, c, two, onGo, 10); n < 10 {
				t.Errorf("saved on xla:cpu, loaded on go: the decisions differ after %d", n)
			}
		})
	}
}

// alike returns the number of decisions before two agents differ, with the same menus and rewards.
func alike(t *testing.T, r *rand.Rand, c agent.Config, one, two *agent.Agent, decisions int) int {
	t.Helper()
	for i := range decisions {
		m, noise := menu(r, c), float32(r.NormFloat64())
		d, e := must.M1(one.Decide(t.Context(), m)), must.M1(two.Decide(t.Context(), m))
		for k, p := range d.Probabilities {
			if d.Action != e.Action || math.Abs(float64(p-e.Probabilities[k])) > 1e-5 {
				return i
			}
		}
		reward := float32(d.Action) + noise
		must.M(one.Observe(t.Context(), agent.Feedback{ID: d.ID, Reward: reward}))
		must.M(two.Observe(t.Context(), agent.Feedback{ID: e.ID, Reward: reward}))
	}
	return decisions
}
