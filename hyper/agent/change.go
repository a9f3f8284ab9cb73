package agent

import (
	"cmp"
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"gonum.org/v1/gonum/stat"
)

// Change is a test of change: whether rewards have ceased to be what the belief predicts. Before the agent learns from
// a datum it standardises the reward by the mean and the variance that the belief predicts, noise included. Bets on
// shifts of the mean and on wider spreads win when the world changes (a Shiryaev-Roberts e-detector: Shin, Ramdas and
// Rinaldo 2024).
//
// Where residuals have a mean of 0 and tails no wider than the normal distribution's, false alarms come after Run data
// or more in the mean, and one within n data has a probability of n/Run at most. The first 30 residuals of a belief
// tell their scale alone: a noise larger than Learner.NoiseVariance is taken from them and from those after, and the
// bounds are then approximate. They say nothing of a belief that cannot represent the world, whose errors are alarms in
// time. Each datum costs a Sample of 64 functions at its input.
//
// With the default Run and residuals N(0, 1), 2.6% of 2,000 runs of 1,000 data had a false alarm (the bound is 10%),
// and 79 of 200 runs of 10,000. A shift by 0.5, 1 and 2 deviations after 500 data was found after 67, 20 and 6 more in
// the mean of 400 runs: see TestChangeFalseAlarms and TestChangeDelay. That is of residuals which stay shifted: an
// agent learns meanwhile, and what it learns makes them smaller.
type Change struct {
	// Run is the least mean number of data to a false alarm; 0 is 10,000.
	Run float64
	// Restart makes the agent forget all data at an alarm, and begin with the datum of the alarm, as New began: its
	// prior, its seed and so its fixed functions are the same. It keeps the decisions that wait for feedback, what
	// the Encoding knows of numbers, its counts of decisions and samples, and the room for data. Size and Rounds count
	// from the restart.
	Restart bool
}

// Alarms are those of a test of change.
type Alarms struct {
	Count    int     // of alarms so far
	Last     int     // the datum of the last, by how many the agent had observed, itself included; 0 is none
	Seen     int     // data observed, which restarts do not set back
	Evidence float64 // that there is a change now: an alarm is at Change.Run
}

func (c *Change) withDefaults() *Change {
	if c == nil {
		return nil
	}
	out := *c
	out.Run = cmp.Or(out.Run, 10_000)
	return &out
}

// checkChange reports a test that cannot be.
func (c Config) checkChange() error {
	switch loss := c.Learner.Train.Loss; {
	case c.Change == nil:
		return nil
	case !(c.Change.Run >= 1 && c.Change.Run <= math.MaxFloat32):
		return fmt.Errorf("Change.Run must be at least 1 and finite, got %v", c.Change.Run)
	case loss != nil && !loss.Quadratic():
		return fmt.Errorf("Change needs rewards with Gaussian noise, of a quadratic Learner.Train.Loss, not %T", loss)
	}
	return nil
}

// Alarms tells what the test of change has found; all 0 where Config.Change is nil.
func (a *Agent) Alarms() Alarms {
	a.reading.Lock()
	defer a.reading.Unlock()
	d := a.now.change
	out := Alarms{Count: d.Alarms, Last: d.Last, Seen: d.Seen}
	out.Evidence = d.evidence()
	return out
}

// predicting is how many functions give the mean and the variance of a reward.
const predicting = 64

// watched is a snapshot whose test has seen a datum that is yet to be learned from: a new one, held by the caller. At
// an alarm with Restart it is of no data.
func (a *Agent) watched(s *snapshot, x []float32, y, weight float32) (*snapshot, error) {
	if a.config.Change == nil {
		return s.replaced(nil, nil), nil
	}
	d := s.change
	d.Seen++
	residual, ok, err := a.residual(s, x, y, weight)
	if err != nil {
		return nil, err
	}
	evidence := 0.0
	if ok {
		d, evidence = d.next(residual)
	}
	alarm := !(evidence < a.config.Change.Run)
	if alarm {
		d = d.alarmed()
	}
	next := (*snapshot)(nil)
	if alarm && a.config.Change.Restart {
		if next, err = a.restarted(s); err != nil {
			return nil, err
		}
	} else {
		next = s.replaced(nil, nil)
	}
	next.change = d
	return next, nil
}

// fewest is how many responses there must be before standardised ones have a scale.
const fewest = 10

// residual is how far a reward is from what a state predicts, in deviations; ok is false where there is no prediction.
func (a *Agent) residual(s *snapshot, x []float32, y, weight float32) (r float64, ok bool, err error) {
	if a.config.Learner.Train.Standardize && s.data.Seen < fewest {
		return 0, false, nil
	}
	belief := a.beliefOf(s)
	defer belief.drop()
	noise, err := a.noise(belief)
	if err != nil {
		return 0, false, err
	}
	f, err := a.draw(belief, [][]float32{x}, predicting, uint32(s.change.Seen))
	if err != nil {
		return 0, false, err
	}
	values := make([]float64, len(f))
	for i := range f {
		values[i] = float64(f[i][0])
	}
	mean, variance := stat.MeanVariance(values, nil)
	r = (float64(y) - mean) / math.Sqrt(noise*noise/float64(weight)+variance*(1+1.0/predicting))
	return r, !math.IsNaN(r) && !math.IsInf(r, 0), nil
}

// restarted is a snapshot of no data, with the room of another.
func (a *Agent) restarted(s *snapshot) (*snapshot, error) {
	state, err := CallOnceN(a.backend, func(seeds *Node) []*Node {
		state := a.initial(seeds)
		out := make([]*Node, len(a.names))
		for i, name := range a.names {
			out[i] = state[name]
		}
		return out
	}, []uint64{a.config.Seed})
	if err != nil {
		return nil, fmt.Errorf("beginning anew after a change: %w", err)
	}
	var at []int
	var by, rest []*tensors.Tensor
	for i, name := range a.names {
		if stored(name) {
			rest = append(rest, state[i]) // rows after the data are never read
		} else {
			at, by = append(at, i), append(by, state[i])
		}
	}
	free(rest...)
	next := s.replaced(at, by)
	next.data, next.rounds = contents{Rows: s.data.Rows}, 0 // a Background learner makes rounds by the data
	if err := a.absorb(next); err != nil {
		next.drop()
		return nil, err
	}
	return next, nil
}

// savedChange is what a file says of the test of a state; nil where there is none.
func (a *Agent) savedChange(s *snapshot) *detector {
	if a.config.Change == nil {
		return nil
	}
	return &s.change
}
