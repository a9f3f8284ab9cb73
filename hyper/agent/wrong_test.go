package agent_test

import (
	"math/rand/v2"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
)

// afterWrong lets an agent decide 2,000 times between five arms. A reward is 1 with probability 0.6 for the right arm
// and 0.1 for the others, but one reward is 10,000, after 500 others. afterWrong returns the share of right arms in the
// last 500 decisions.
func afterWrong(t *testing.T, change *agent.Change, seed uint64) float64 {
	t.Helper()
	a := must.M1(agent.New(agent.Config{Backend: backend.Go, Seed: seed, Change: change}.Contextual(5, 6)))
	defer a.Close()
	r, right := rand.New(rand.NewPCG(seed, 1)), 0
	for i := range 2_000 {
		x, best := make([]float32, 6), 2
		for j := range x {
			x[j] = float32(r.NormFloat64())
		}
		if x[0] > 0 {
			best = 3
		}
		d, p, y := must.M1(a.Decide(t.Context(), agent.Menu{Context: x})), 0.1, float32(0)
		if d.Action == best {
			p = 0.6
			right += i / 1_500
		}
		if r.Float64() < p {
			y = 1
		}
		if i == 500 {
			y = 10_000
		}
		must.M(a.Observe(t.Context(), agent.Feedback{ID: d.ID, Reward: y}))
	}
	return float64(right) / 500
}

// After one wrong reward, an agent decides nearly at random: 0.16 to 0.34 of its arms are right with seeds 0 to 19. If
// a test of change restarts the agent, it learns again: 0.86 to 0.95 are right.
func TestWrongReward(t *testing.T) {
	agent.NotInShort(t)
	for seed := range uint64(2) {
		if share := afterWrong(t, nil, seed); share > 0.5 {
			t.Errorf("seed %d: %.2f of the arms are right: a wrong reward does no harm", seed, share)
		}
		if share := afterWrong(t, &agent.Change{Restart: true}, seed); share < 0.8 {
			t.Errorf("seed %d: %.2f of the arms are right after a restart, want more", seed, share)
		}
	}
}
