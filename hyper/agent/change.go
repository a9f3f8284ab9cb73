package agent

import (
	"fmt"
	"math"
	"time"

	. "github.com/gomlx/gomlx/core/graph"
	"gonum.org/v1/gonum/stat"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Change is a test of whether the world has changed: whether rewards have become harder to foretell than they were.
//
// The score of a reward is how far it is from what the belief foretold, in predicted standard deviations, before it is
// learned. Its rank among the scores so far is a p-value, independent of those before as long as scores are
// exchangeable, whatever the belief and the noise (a conformal test: Vovk et al. 2021). A bet on small p-values, the
// mean of k p^(k-1) over k in (0, 1), has expectation 1 then; the Shiryaev-Roberts statistic R <- (R + 1) bet thus takes
// at least Rewards rewards, in expectation, to reach Rewards (Shin, Ramdas and Rinaldo 2023, "E-detectors"). That is an
// alarm: the test begins anew. After 1,000 rewards a move of them by 1, 2 or 4 predicted standard deviations is found
// after some 500, 10 or 3 more, for Rewards of 10,000 (TestAlarms). Scores that shrink, while the agent learns, make alarms rarer.
type Change struct {
	// Rewards is the least expected number of rewards until an alarm where nothing changes; 0 is 100,000.
	Rewards float64
	// Restart lets the belief begin anew at an alarm: data and training are forgotten, and what is learned from then on is
	// all it knows. Decisions that wait for rewards, and the scales of the Encoding's numbers, stay. Without it an alarm
	// is only told.
	Restart bool
}

func (c *Change) withDefaults() *Change {
	if c == nil {
		return nil
	}
	out := *c
	if out.Rewards == 0 {
		out.Rewards = 100_000
	}
	return &out
}

func (c *Change) validate() error {
	if c != nil && !(c.Rewards >= 10) {
		return fmt.Errorf("Change.Rewards must be at least 10, got %v", c.Rewards)
	}
	return nil
}

// Changes are what the test of Config.Change has found.
type Changes struct {
	Alarms int
	Last   time.Time // of the last alarm; zero where there was none
	// Evidence is the statistic, from 0 to Change.Rewards, where it is an alarm.
	Evidence float64
}

// Changes tells what the test of Config.Change has found; without one it is zero.
func (a *Agent) Changes() Changes {
	a.reading.Lock()
	c := a.now.changed
	a.reading.Unlock()
	if c == nil {
		return Changes{}
	}
	out := Changes{Alarms: c.Alarms, Evidence: c.Evidence}
	if c.Alarms > 0 {
		out.Last = time.Unix(0, c.Last)
	}
	return out
}

// bins are those of the scores: 32 for each factor of e, from e^-8 to e^8.
const bins = 512

// changes is the state of the test. It does not change: tested returns the next.
type changes struct {
	Scores   uint64   // since the last alarm
	Counts   []uint64 // of the scores in each bin
	Evidence float64
	Alarms   int
	Last     int64 // Unix time in nanoseconds
	All      uint64
}

// valid tells whether it can be of a file.
func (c *changes) valid() bool {
	sum := uint64(0)
	for _, n := range c.Counts {
		sum += n
	}
	return len(c.Counts) == bins && sum == c.Scores && c.Evidence >= 0 && !notFinite(c.Evidence) && c.Alarms >= 0
}

// tested is the state with a score more, which came at a time, and whether it is an alarm. u is uniform on (0, 1).
func (c *changes) tested(score, u, least float64, at time.Time) (next *changes, alarm bool) {
	next = &changes{Counts: make([]uint64, bins)}
	if c != nil {
		*next = *c
		next.Counts = append([]uint64(nil), c.Counts...)
	}
	bin := min(max(int(32*(math.Log(score)+8)), 0), bins-1)
	next.Scores++
	next.All++
	next.Counts[bin]++
	above := 0.0
	for _, n := range next.Counts[bin+1:] {
		above += float64(n)
	}
	p := (above + u*float64(next.Counts[bin])) / float64(next.Scores) // scores of one bin are in random order
	if next.Evidence = (next.Evidence + 1) * bet(p); next.Evidence < least {
		return next, false
	}
	return &changes{Counts: make([]uint64, bins), Alarms: next.Alarms + 1, Last: at.UnixNano(), All: next.All}, true
}

// bet is the mean of k p^(k-1) over k in (0, 1).
func bet(p float64) float64 {
	p = max(p, 1e-300)
	l := math.Log(p)
	if l > -1e-3 {
		return 0.5 - l/6 // where the formula is 0/0
	}
	return (1 - p + p*l) / (p * l * l)
}

// foretellings are how many functions foretell a reward.
const foretellings = 32

// test is the step that tests a response at an input, which came at a time, and that begins anew at an alarm, if it
// should.
func (a *Agent) test(x []float32, y float32, at time.Time) step {
	return func(s *snapshot) (*snapshot, error) {
		number := uint64(0)
		if s.changed != nil {
			number = s.changed.All
		}
		score, err := a.score(s, x, y, uint32(number))
		if err != nil {
			return nil, err
		}
		var u [1]float32
		rng.NewHost(a.config.Seed).At(uint32(number)).Named("change").Uniform(u[:])
		changed, alarm := s.changed.tested(score, float64(u[0]), a.config.Change.Rewards, at)
		next := s.replaced(nil, nil)
		if alarm && a.config.Change.Restart {
			next.drop()
			if next, err = a.anew(s); err != nil {
				return nil, err
			}
		}
		next.changed = changed
		return next, nil
	}
}

// score is how far a response is from what is foretold at an input, in predicted standard deviations.
func (a *Agent) score(s *snapshot, x []float32, y float32, number uint32) (float64, error) {
	belief := a.beliefOf(s)
	defer belief.drop()
	f, err := a.draw(belief, [][]float32{x}, foretellings, ^number) // Sample counts from 0
	if err != nil {
		return 0, err
	}
	noise, err := a.noise(belief)
	if err != nil {
		return 0, err
	}
	values := make([]float64, len(f))
	for i := range f {
		values[i] = float64(f[i][0])
	}
	mean, variance := stat.MeanVariance(values, nil)
	score := math.Abs(float64(y)-mean) / math.Sqrt(noise*noise+variance)
	if notFinite(score) {
		return 0, errPredictions
	}
	return score, nil
}

// anew is a snapshot of no data, with as many rows as another.
func (a *Agent) anew(s *snapshot) (*snapshot, error) {
	state, err := CallOnceN(a.backend, func(seeds *Node) []*Node {
		state, out := a.initial(seeds), make([]*Node, len(a.names))
		for i, name := range a.names {
			out[i] = state[name]
		}
		return out
	}, []uint64{a.config.Seed})
	if err != nil {
		return nil, err
	}
	next := newSnapshot(state)
	if next.data.Rows = a.config.rows(); next.data.Rows == s.data.Rows {
		return next, nil
	}
	defer next.drop()
	return a.resized(next, s.data.Rows)
}
