package agent_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
)

// clicks lets an agent show one of two pages, which visitors click with probability 0.1 and 0.2, and only reports
// clicks. It returns the share of the better page in the last tenth of the decisions.
func clicks(t *testing.T, r agent.Reward, seed uint64, decisions int) float64 {
	t.Helper()
	c := agent.Config{Backend: backend.Go, Seed: seed, Reward: r}
	c.Learner.NoiseVariance = 1 // whether a page is clicked is nearly all noise
	a := must.M1(agent.New(c.Arms(2)))
	defer a.Close()
	visitors, better := rand.New(rand.NewPCG(seed, 1)), 0
	for i := range decisions {
		d := must.M1(a.Act(t.Context(), nil))
		if i >= decisions*9/10 {
			better += d.Action
		}
		if visitors.Float64() < []float64{0.1, 0.2}[d.Action] {
			must.M(a.Observe(t.Context(), agent.Feedback{ID: d.ID, Reward: 1}))
		}
		if i%20 == 19 { // an hour later
			must.M(a.SettleAt(time.Now().Add(2 * time.Hour)))
		}
	}
	return float64(better) / float64(decisions/10)
}

// With a default, an agent that only hears of clicks finds the better of two pages. The page gets 90% of decisions
// 18,000 to 20,000 (93% to 99% with seeds 0 to 15). Without a default, the agent only learns ones, and shows both pages
// equally.
func TestSilenceTeaches(t *testing.T) {
	agent.NotInShort(t)
	if share := clicks(t, silent(0), 3, 2_000); share < 0.9 {
		t.Errorf("with a default the better page has a share of %.2f of the decisions, want more", share)
	}
	if share := clicks(t, agent.Reward{}, 3, 2_000); share > 0.7 {
		t.Errorf("without a default the better page has a share of %.2f, too large for this test", share)
	}
}
