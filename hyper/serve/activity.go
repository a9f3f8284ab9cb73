package serve

import (
	"context"
	"math"
	"sync"
	"time"
)

// Activity is what the server has done since it started, for its page.
type Activity struct {
	Since     time.Time `json:"since"` // when the server started
	Decisions int       `json:"decisions"`
	Rewards   int       `json:"rewards"` // of these decisions
	// Arms are counts by arm, in the order of the Spec; actions that have features are in none.
	Arms []ArmActivity `json:"arms,omitempty"`
	// Steps are the last ten minutes in steps of five seconds, the oldest first; the last one is under way.
	StepSeconds float64 `json:"step_seconds"`
	Steps       []Step  `json:"steps"`
}

// ArmActivity is what an arm was chosen for, and what came of it.
type ArmActivity struct {
	Name      string  `json:"name"`
	Decisions int     `json:"decisions"`
	Share     float64 `json:"share"` // of all decisions
	Rewards   int     `json:"rewards"`
	// Mean is the mean reward of those decisions that have one; Lower and Upper are its 95% interval: Wilson's where
	// rewards are 0 and 1, the normal one elsewhere. They are missing before there are enough rewards.
	Mean  *float64 `json:"mean,omitempty"`
	Lower *float64 `json:"lower,omitempty"`
	Upper *float64 `json:"upper,omitempty"`
}

// Step is a time of five seconds.
type Step struct {
	Decisions int      `json:"decisions"`
	Rewards   int      `json:"rewards"`
	Mean      *float64 `json:"mean,omitempty"` // of the rewards
	P50       float64  `json:"p50"`            // seconds that a decision took, 0 without any
	P99       float64  `json:"p99"`
}

// Number and length of the steps of a history.
const (
	steps      = 120
	stepLength = 5 * time.Second
)

// mostRemembered is the number of decisions whose arm is remembered for the reward.
const mostRemembered = 1 << 16

// activity counts what a server does.
type activity struct {
	now   func() time.Time
	since time.Time

	mu     sync.Mutex
	all    tally
	arms   map[string]*tally
	ring   [steps]stepping
	latest int64 // the number of the latest step

	armOf map[string]string // by the ID of a decision whose reward is not counted
	ids   []string          // of armOf, in a ring
	next  int
	waits []waited // where decisions are settled by time, the oldest first
}

// waited is a decision that is settled some time after it was looked at.
type waited struct {
	id string
	at time.Time
}

// tally counts decisions and sums up their rewards.
type tally struct {
	decisions, rewards int
	sum, squares       float64
	notBinary          bool
}

// stepping is a Step that is being counted.
type stepping struct {
	number int64
	tally
	latencies [latencyBuckets]int
}

// Latencies are counted in buckets from a microsecond on, each a fifth longer than the one before; the last is beyond
// ten minutes.
const (
	latencyBuckets = 112
	shortest       = 1e-6
	longer         = 1.2
)

func newActivity(now func() time.Time) *activity {
	return &activity{now: now, since: now(), arms: map[string]*tally{}, armOf: map[string]string{}}
}

// decided counts a decision for an arm, "" for an action with features, which took a time. Where the agent learns from
// silence after a wait, settled says what it has learned for a decision.
func (a *activity) decided(id, arm string, took, wait time.Duration, settled func(id string) (float32, bool)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if wait > 0 && id != "" {
		a.waits = append(a.waits, waited{id, a.now()})
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

// settle counts what decisions are settled with whose wait is over, a number of them at most. A decision that is not
// settled, as nobody was shown it, waits again.
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

// step is the step of now.
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

// mean is nil without rewards.
func (t *tally) mean() *float64 {
	if t.rewards == 0 {
		return nil
	}
	m := t.sum / float64(t.rewards)
	return &m
}

// z95 is the 97.5% quantile of the normal distribution.
const z95 = 1.959964

// interval is the 95% interval of the mean, nil without enough rewards.
func (t *tally) interval() (lower, upper *float64) {
	n := float64(t.rewards)
	if t.rewards == 0 || t.notBinary && t.rewards < 2 {
		return nil, nil
	}
	mean := t.sum / n
	centre, half := mean, 0.0
	if t.notBinary {
		half = z95 * math.Sqrt(max(t.squares-n*mean*mean, 0)/(n-1)/n)
	} else {
		centre = (mean + z95*z95/(2*n)) / (1 + z95*z95/n)
		half = z95 / (1 + z95*z95/n) * math.Sqrt(mean*(1-mean)/n+z95*z95/(4*n*n))
	}
	low, high := centre-half, centre+half
	if !t.notBinary { // but for rounding they are
		low, high = max(low, 0), min(high, 1)
	}
	return &low, &high
}

// bucketOf is the bucket of a latency in seconds.
func bucketOf(seconds float64) int {
	at := int(math.Ceil(math.Log(max(seconds, shortest)/shortest) / math.Log(longer)))
	return min(at, latencyBuckets-1)
}

// quantile is the upper end of the bucket that has a quantile of the latencies, in seconds.
func (s *stepping) quantile(q float64) float64 {
	left := int(math.Ceil(q * float64(s.decisions)))
	for i, n := range s.latencies {
		if left -= n; left <= 0 && s.decisions > 0 {
			return shortest * math.Pow(longer, float64(i))
		}
	}
	return 0
}

// result is what there is now, with these arms.
func (a *activity) result(arms []string, wait time.Duration, settled func(id string) (float32, bool)) *Activity {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settle(len(a.waits), wait, settled)
	a.step()
	out := &Activity{Since: a.since, Decisions: a.all.decisions, Rewards: a.all.rewards,
		StepSeconds: stepLength.Seconds(), Steps: make([]Step, steps)}
	for i := range out.Steps {
		number := a.latest - steps + 1 + int64(i)
		if s := &a.ring[(number%steps+steps)%steps]; s.number == number {
			out.Steps[i] = Step{Decisions: s.decisions, Rewards: s.rewards, Mean: s.mean(), P50: s.quantile(0.5),
				P99: s.quantile(0.99)}
		}
	}
	for _, name := range arms {
		t := a.arms[name]
		if t == nil {
			t = new(tally)
		}
		one := ArmActivity{Name: name, Decisions: t.decisions, Rewards: t.rewards, Mean: t.mean(),
			Share: float64(t.decisions) / float64(max(a.all.decisions, 1))}
		one.Lower, one.Upper = t.interval()
		out.Arms = append(out.Arms, one)
	}
	return out
}

func (s *Server) activity(context.Context, *struct{}) (*Activity, error) {
	a, done := s.agent()
	defer done()
	return s.active.result(a.spec.Arms, time.Duration(a.spec.Reward.Wait), a.Settled), nil
}
