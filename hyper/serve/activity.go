package serve

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/hypermodels/hypermodels/hyper/serve/api"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// These are the number and the length of the steps.
const (
	steps      = 120
	stepLength = 5 * time.Second
)

// mostRemembered is the number of decisions whose arm is remembered until the reward arrives.
const mostRemembered = 1 << 16

// activity counts the decisions and rewards of a server.
type activity struct {
	now   func() time.Time
	since time.Time

	mu     sync.Mutex
	all    tally
	arms   map[string]*tally
	ring   [steps]stepping
	latest int64 // the number of the latest step

	armOf map[string]string // by the ID of a decision whose reward is not counted yet
	ids   []string          // keys of armOf, in a ring
	next  int
	waits []waited // decisions that are settled by time, the oldest first
}

// waited is a decision that is settled some time after at.
type waited struct {
	id string
	at time.Time
}

// tally counts decisions and sums their rewards.
type tally struct {
	decisions, rewards int
	sum, squares       float64
	notBinary          bool
}

// stepping holds the counts of a Step.
type stepping struct {
	number int64
	tally
	latencies [latencyBuckets]int
}

// Latencies are counted in buckets. The first ends at a microsecond, each next one ends a fifth later, and the last one
// holds latencies of more than ten minutes.
const (
	latencyBuckets = 112
	shortest       = 1e-6
	longer         = 1.2
)

func newActivity(now func() time.Time) *activity {
	return &activity{now: now, since: now(), arms: map[string]*tally{}, armOf: map[string]string{}}
}

// decided counts a decision for an arm that took a time; the arm is "" for an action with features. wait is the time
// until decisions are settled, or 0. settled returns the reward that the agent has learned for a decision.
func (a *activity) decided(id, arm string, took, wait time.Duration, settled func(id string) (float32, bool)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if wait > 0 && id != "" {
		a.waits = append(a.waits, waited{id, a.now()})
		a.waits = a.waits[max(len(a.waits)-mostRemembered, 0):]
		a.settle(8, wait, settled)
	}
	s := a.step()
	s.decisions++
	s.latencies[bucketOf(took.Seconds())]++
	a.all.decisions++
	if a.arms[arm] == nil {
		a.arms[arm] = new(tally)
	}
	a.arms[arm].decisions++
	if id != "" {
		a.remember(id, arm)
	}
}

func (a *activity) remember(id, arm string) {
	if len(a.ids) < mostRemembered {
		a.ids = append(a.ids, id)
	} else {
		delete(a.armOf, a.ids[a.next])
		a.ids[a.next] = id
		a.next = (a.next + 1) % mostRemembered
	}
	a.armOf[id] = arm
}

// rewarded counts the first reward of a decision that is remembered.
func (a *activity) rewarded(id string, y float32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.count(id, y)
}

func (a *activity) count(id string, y float32) {
	arm, first := a.armOf[id]
	if !first {
		return
	}
	delete(a.armOf, id)
	for _, t := range []*tally{&a.all, a.arms[arm], &a.step().tally} {
		t.reward(y)
	}
}

// settle counts the settlements of at most most decisions whose wait is over. A decision that is not settled yet,
// because it was not shown, waits again.
func (a *activity) settle(most int, wait time.Duration, settled func(id string) (float32, bool)) {
	now := a.now()
	for ; most > 0 && len(a.waits) > 0 && now.Sub(a.waits[0].at) > wait+settling; most-- {
		id := a.waits[0].id
		a.waits = a.waits[1:]
		if _, open := a.armOf[id]; !open {
			continue
		}
		if y, ok := settled(id); ok {
			a.count(id, y)
		} else {
			a.waits = append(a.waits, waited{id, now})
		}
	}
}

// step returns the present step.
func (a *activity) step() *stepping {
	number := a.now().Unix() / int64(stepLength.Seconds())
	a.latest = max(a.latest, number)
	s := &a.ring[a.latest%steps]
	if s.number != a.latest {
		*s = stepping{number: a.latest}
	}
	return s
}

func (t *tally) reward(y float32) {
	t.rewards++
	t.sum += float64(y)
	t.squares += float64(y) * float64(y)
	t.notBinary = t.notBinary || y != 0 && y != 1
}

// mean returns the mean reward, or nil without rewards.
func (t *tally) mean() *float64 {
	if t.rewards == 0 {
		return nil
	}
	return new(t.sum / float64(t.rewards))
}

// interval returns the 95% interval of the mean, or nil without enough rewards.
func (t *tally) interval() (lower, upper *float64) {
	if t.rewards == 0 || t.notBinary && t.rewards < 2 {
		return nil, nil
	}
	if !t.notBinary {
		e := stats.Share(int(t.sum), t.rewards)
		return new(float64(e.Lower)), new(float64(e.Upper))
	}
	const z95 = 1.959964 // the 97.5% quantile of the normal distribution
	n := float64(t.rewards)
	mean := t.sum / n
	half := z95 * math.Sqrt(max(t.squares-n*mean*mean, 0)/(n-1)/n)
	return new(mean - half), new(mean + half)
}

// bucketOf returns the index of the bucket of a latency in seconds.
func bucketOf(seconds float64) int {
	at := int(math.Ceil(math.Log(max(seconds, shortest)/shortest) / math.Log(longer)))
	return min(at, latencyBuckets-1)
}

// quantile returns the upper end, in seconds, of the bucket that contains a quantile of the latencies.
func (s *stepping) quantile(q float64) float64 {
	left := int(math.Ceil(q * float64(s.decisions)))
	for i, n := range s.latencies {
		if left -= n; left <= 0 && s.decisions > 0 {
			return shortest * math.Pow(longer, float64(i))
		}
	}
	return 0
}

// result returns the present counts, for these arms.
func (a *activity) result(arms []string, wait time.Duration, settled func(id string) (float32, bool)) *api.Activity {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settle(len(a.waits), wait, settled)
	a.step()
	out := &api.Activity{Since: a.since, Decisions: a.all.decisions, Rewards: a.all.rewards,
		StepSeconds: stepLength.Seconds(), Steps: make([]api.Step, steps)}
	for i := range out.Steps {
		number := a.latest - steps + 1 + int64(i)
		if s := &a.ring[(number%steps+steps)%steps]; s.number == number {
			out.Steps[i] = api.Step{Decisions: s.decisions, Rewards: s.rewards, Mean: s.mean(), P50: s.quantile(0.5),
				P99: s.quantile(0.99)}
		}
	}
	for _, name := range arms {
		t := a.arms[name]
		if t == nil {
			t = new(tally)
		}
		one := api.ArmActivity{Name: name, Decisions: t.decisions, Rewards: t.rewards, Mean: t.mean(),
			Share: float64(t.decisions) / float64(max(a.all.decisions, 1))}
		one.Lower, one.Upper = t.interval()
		out.Arms = append(out.Arms, one)
	}
	return out
}

func (s *Server) activity(context.Context, *struct{}) (*api.Activity, error) {
	a, done := s.agent()
	defer done()
	return s.active.result(a.Spec.Arms, time.Duration(a.Spec.Reward.Wait), a.Settled), nil
}
