package serve

import (
	"sync"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// calibrating compares the rewards of groups of decisions with the agent's belief before the first decision of the
// group.
type calibrating struct {
	mu    sync.Mutex
	group *group    // the group that is filled, or waits for rewards; nil if there is none
	rest  time.Time // no group begins before this time
	ring  [100]agent.Calibration
	next  int

	working sync.WaitGroup // groups that are being compared
}

// group is a number of consecutive decisions.
type group struct {
	of      *agent.Agent
	belief  *agent.Snapshot
	ids     []string
	x       [][]float32
	rewards map[string]float32
	age     int       // number of decisions since the first
	until   time.Time // time at which all are settled; zero if decisions do not wait
}

// inGroup is the number of decisions of a group. patience is the number of decisions for which it waits for rewards.
// between is the time until the next group begins, so that calibration takes little time compared to the requests.
// settling is the time that settling may take.
const (
	inGroup  = 10
	patience = 1000
	between  = time.Second
	settling = time.Second
)

// decided adds a decision to the group, or begins a group. wait is the time until decisions are settled, or 0. A
// deferred decision may never be shown, and joins no group.
func (c *calibrating) decided(a *agent.Agent, m agent.Menu, d agent.Decision, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.Deferred {
		return
	}
	if g := c.group; g != nil && g.of != a {
		c.drop()
	}
	if c.group == nil && time.Now().Before(c.rest) {
		return
	}
	if c.group == nil {
		c.group = &group{of: a, belief: a.Snapshot(), rewards: map[string]float32{}}
	}
	g := c.group
	if g.age++; len(g.ids) < inGroup {
		x, err := a.Inputs(m)
		if err != nil {
			return
		}
		input := []float32{float32(d.Action)}
		if x != nil {
			input = x[d.Action]
		}
		g.ids, g.x = append(g.ids, d.ID), append(g.x, input)
		if wait > 0 {
			g.until = time.Now().Add(wait + settling)
		}
		return
	}
	if g.until.IsZero() && g.age > patience || !g.until.IsZero() && time.Now().After(g.until) {
		c.close()
	}
}

// rewarded notes a reward.
func (c *calibrating) rewarded(id string, y float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.group
	if g == nil || !g.until.IsZero() { // close asks for the settlements later
		return
	}
	for _, own := range g.ids {
		if _, again := g.rewards[id]; own == id && !again {
			g.rewards[id] = y
		}
	}
	if len(g.rewards) == inGroup {
		c.close()
	}
}

// drop removes the group.
func (c *calibrating) drop() {
	if c.group != nil {
		c.group.belief.Close()
		c.group = nil
	}
}

// end removes the group, and waits for the groups that are being compared.
func (c *calibrating) end() {
	c.mu.Lock()
	c.drop()
	c.mu.Unlock()
	c.working.Wait()
}

// close compares the group's rewards with the predictions, in a goroutine.
func (c *calibrating) close() {
	g := c.group
	c.group, c.rest = nil, time.Now().Add(between)
	var x [][]float32
	var y []float32
	for i, id := range g.ids {
		v, ok := g.rewards[id]
		if !g.until.IsZero() {
			v, ok = g.of.Settled(id)
		}
		if ok {
			x, y = append(x, g.x[i]), append(y, v)
		}
	}
	c.working.Go(func() {
		defer g.belief.Close()
		if len(y) < 2 {
			return
		}
		one, err := g.belief.Calibrate(x, y)
		if err != nil {
			return // a loss without a distribution of rewards
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ring[c.next%len(c.ring)] = one
		c.next++
	})
}

// result returns nil before the first comparison.
func (c *calibrating) result() *api.Calibration {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(c.next, len(c.ring))
	if n == 0 {
		return nil
	}
	out := &api.Calibration{}
	for _, one := range c.ring[:n] {
		out.Rewards += one.Responses
		for _, u := range one.PIT {
			out.Tenths[min(max(int(10*u), 0), 9)]++
		}
		out.Surprise += (one.ExpectedMarginal - one.Marginal) / float64(n)
		out.Joint += (one.Joint - one.ExpectedJoint) / float64(n)
	}
	return out
}
