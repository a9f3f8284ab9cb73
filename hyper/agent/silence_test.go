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

// lateSilence lets an agent decide 2,000 times between five pages. Visitors click the right one with probability 0.6,
// and the others with 0.1. The wait of a decision ends 100 decisions later. It returns the number of clicks before the
// first wait is over, and the number of alarms.
func lateSilence(t *testing.T, combine agent.Combine, seed uint64) (early, alarms int) {
	t.Helper()
	c := agent.Config{Backend: backend.Go, Seed: seed, Reward: silent(0), Change: &agent.Change{Restart: true}}
	c.Reward.Combine = combine
	a := must.M1(agent.New(c.Contextual(5, 1)))
	defer a.Close()
	visitors, times := rand.New(rand.NewPCG(seed, 1)), make([]time.Time, 0, 2_000)
	for i := range cap(times) {
		x, p := float32(visitors.NormFloat64()), 0.1
		d := must.M1(a.Decide(t.Context(), agent.Menu{Context: []float32{x}}))
		times = append(times, time.Now())
		if (x > 0) == (d.Action == 1) && d.Action < 2 {
			p = 0.6
		}
		if visitors.Float64() < p {
			must.M(a.Observe(t.Context(), agent.Feedback{ID: d.ID, Reward: 1}))
			if i < 100 {
				early++
			}
		}
		if i >= 100 {
			must.M(a.SettleAt(times[i-100].Add(c.Reward.Wait)))
		}
	}
	return early, a.Alarms().Count
}

// If an agent learns clicks at once and silence later, it knows only clicks until the first wait is over: seeds 0 to 19
// have 251 clicks in these 2,000 decisions. Then the order of its errors looks like a change of the world: seeds 0 to 9
// have 105 alarms in 19,000 rewards. If the agent learns both when the wait is over, they have 404 clicks and 7 alarms.
func TestSilenceComesLate(t *testing.T) {
	agent.NotInShort(t)
	for seed := range uint64(2) {
		if early, alarms := lateSilence(t, agent.First, seed); early > 15 || alarms < 5 {
			t.Errorf("seed %d, clicks at once: got %d clicks and %d alarms, want at most 15 and at least 5", seed, early, alarms)
		}
		if early, alarms := lateSilence(t, agent.Maximum, seed); early < 16 || alarms > 2 {
			t.Errorf("seed %d, clicks later: got %d clicks and %d alarms, want at least 16 and at most 2", seed, early, alarms)
		}
	}
}
