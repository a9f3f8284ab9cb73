package agent

import (
	"cmp"
	"fmt"
	"math"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Change is a test of change: it detects when predictions become worse, or wrong in a different way. Before the agent
// learns from a datum, the test takes the error of the predicted mean, with its sign and size, and compares it with the
// earlier errors. It bets that errors have moved to one side, or have spread; these bets win when the world changes (a
// conformal test: Vovk, Nouretdinov and Gammerman 2003; a Shiryaev-Roberts e-detector: Shin, Ramdas and Rinaldo 2024).
// The test needs no distribution of rewards. A belief whose errors stay equally large causes no alarm.
//
// While errors are exchangeable, the mean number of data before a false alarm is at least Run, and the probability of a
// false alarm within n data is at most n/Run. The errors of an agent that learns are not quite exchangeable, because
// they become smaller. So the promise was measured, with rewards of 0 and 1. The agent of [Contextual] classified the
// rows of four data sets in random orders, at a Run of 10,000. The data were followed by the same data with labels
// shifted by one in the middle of the run (see TestChangeOfRows):
//
//	            rewards   alarms   expected at most   delay after a change: median, nine in ten
//	shuttle      48,000        2                4.8      3      4
//	phishing     37,500        1                3.8      7     14
//	segment      27,720        0                2.8      6      7
//	digits       21,564        0                2.2      5      6
//
// In total there were 3 alarms in 134,784 rewards (95% interval: 0.6 to 8.8). The classes of errors were chosen on
// these orders; other orders of the same rows had 4 alarms in 81,668 rewards, where 8.2 may be expected. An earlier
// version of the test assumed normal errors: it had 410 alarms in the 134,784 rewards, and found the change after 1 to
// 3 rewards (medians).
//
// With errors N(0, 1), 5.3% of 1,000 runs of 1,000 data had a false alarm (the bound is 10%). A shift by 0.5, 1 and 2
// standard deviations after 500 data was found after 88, 25 and 8 more data (means over 400 runs): see
// TestChangeFalseAlarms and TestChangeDelay. These errors stayed shifted. An agent learns after a change, and this
// makes its errors smaller.
//
// The test has limits. The first 30 errors are no evidence, because 20 of them estimate the scale. A change soon after
// them has few errors to be compared with. A discount (Config.Forget) suits a world that drifts slowly from the
// beginning. Periodic errors that the inputs do not explain, such as an effect of the time of day, count as a change.
// So does the order of rewards if Config.Reward has a Default: clicks are learned at once, silence after the Wait. Take
// Maximum as its Combine, which learns both after the Wait. In a world without a change, 19,000 rewards then had 7
// alarms in place of 105 (TestSilenceComesLate). The test cannot see changes in actions that the agent no longer takes.
// Each datum costs a Sample of 64 functions at its input.
type Change struct {
	// Run is a lower bound on the mean number of data before a false alarm, for exchangeable errors; 0 means 10,000.
	Run float64
	// Restart makes the agent forget all data at an alarm. It starts again with the datum of the alarm, in the state
	// that New returned: with the same prior, the same seed and so the same fixed functions. It keeps the decisions
	// that wait for feedback, the statistics with which the Encoding standardises, its counts of decisions and samples,
	// and the room for data. Size and Rounds count from the restart.
	Restart bool
}

// Alarms is the state of a test of change.
type Alarms struct {
	Count    int     // number of alarms so far
	Last     int     // number of the datum of the last alarm, counted from 1; 0 before any alarm
	Seen     int     // number of data observed, also before restarts
	Evidence float64 // evidence for a change now; Change.Run raises an alarm
}

func (c *Change) withDefaults() *Change {
	if c == nil {
		return nil
	}
	out := *c
	out.Run = cmp.Or(out.Run, 10_000)
	return &out
}

// checkChange reports an invalid test of change.
func (c Config) checkChange() error {
	if c.Change != nil && !(c.Change.Run >= 1 && c.Change.Run <= math.MaxFloat32) {
		return fmt.Errorf("Change.Run must be at least 1 and finite, got %v", c.Change.Run)
	}
	return nil
}

// Alarms returns what the test of change has found, or a zero Alarms if Config.Change is nil.
func (a *Agent) Alarms() Alarms {
	a.reading.Lock()
	defer a.reading.Unlock()
	d := a.now.change
	return Alarms{Count: d.Alarms, Last: d.Last, Seen: d.Seen, Evidence: d.evidence()}
}

// meanFunctions is the number of functions whose average predicts a reward.
const meanFunctions = 64

// afterTest returns a new snapshot, held by the caller, whose test of change has seen a datum that is yet to be
// learned. At an alarm with Restart the snapshot has no data.
func (a *Agent) afterTest(s *snapshot, x []float32, y, weight float32) (*snapshot, error) {
	if a.config.Change == nil {
		return s.replaced(nil, nil), nil
	}
	d := s.change
	d.Seen++
	miss, ok, err := a.predictionError(s, x, y, weight)
	if err != nil {
		return nil, err
	}
	evidence := 0.0
	if ok {
		d, evidence = d.next(miss, a.uniform(d.Seen))
	}
	alarm := !(evidence < a.config.Change.Run)
	if alarm {
		d = detector{Seen: d.Seen, Alarms: d.Alarms + 1, Last: d.Seen} // begins anew
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

// leastResponses is the number of responses from which standardised responses have a scale.
const leastResponses = 10

// predictionError returns the difference between a reward and the mean that a state predicts, times the square root of
// the weight: a reward of weight w is as exact as the mean of w rewards. ok is false if there is no prediction.
func (a *form) predictionError(s *snapshot, x []float32, y, weight float32) (miss float64, ok bool, err error) {
	if a.config.Learner.Train.Standardize && s.data.Seen < leastResponses {
		return 0, false, nil
	}
	belief := a.beliefOf(s)
	defer belief.drop()
	f, err := a.draw(belief, [][]float32{x}, meanFunctions, uint32(s.change.Seen))
	if err != nil {
		return 0, false, err
	}
	mean := 0.0
	for i := range f {
		mean += float64(f[i][0]) / meanFunctions
	}
	miss = (float64(y) - mean) * math.Sqrt(float64(weight))
	return miss, !math.IsNaN(miss) && !math.IsInf(miss, 0), nil
}

// uniform returns the number in (0, 1) that breaks ties of the test at a datum.
func (a *form) uniform(datum int) float64 {
	var u [1]float32
	rng.NewHost(a.seed()).At(uint32(datum)).Named("change").Uniform(u[:])
	return float64(u[0])
}

// restarted returns a snapshot without data that keeps the room for data of s.
func (a *Agent) restarted(s *snapshot) (*snapshot, error) {
	_, begun, err := a.rebuilt(a.set, a.steps)
	if err != nil {
		return nil, fmt.Errorf("beginning anew after a change: %w", err)
	}
	defer begun.drop()
	next := s.replaced(nil, nil)
	next.host = new(host)
	for i, name := range a.names {
		if own := begun.state[i]; own != nil && !name.Replayed() { // rows after the data are never read
			next.state[i].drop()
			next.state[i] = own.hold()
		}
	}
	if begun.learned != nil {
		next.setLearned(begun.learned.Hold())
	}
	next.data, next.rounds = contents{Rows: s.data.Rows}, 0 // a Background learner counts rounds by data
	return next, nil
}
