package agent

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/learner"
)

// Config says what an agent is: a learner, and how a service holds it. Learner.Belief must be given, by hand or by
// [Config.Arms], [Config.Linear] or [Config.Neural]; the rest has defaults.
type Config struct {
	// Learner is what learns and explores: the value that experiments take. Its Train.Capacity is at most how many data
	// are kept, see Replay; Train.Inputs is set to Features. A nil Policy is explore.Thompson{N: 100}: enough functions
	// for probabilities that are shares.
	Learner learner.Learner
	// Features is the length of an input x. 0 is for arms: an input is then one number, the arm.
	Features int
	// Encoding makes inputs of a Menu's numbers, as it comes from a service; nil is that a Menu has the inputs
	// themselves. Features 0 is then the Encoding's Width.
	Encoding *Encoding
	// Replay says what is kept of many data, where Train keeps the data; 0 is Growth, the others need a
	// Train.Capacity.
	Replay Replay
	// Floor is the chance, in (0, 1], that Act takes an action uniformly at random instead of by the Policy: no action
	// has a probability below Floor over the number of actions. 0 is 0.01, and a negative number none, as in
	// experiments.
	Floor float64
	// Pending is how many decisions the agent remembers for their feedback: when there are more, the oldest has expired.
	// Each takes 4 bytes for a feature and 200 more. 0 is 65,536, or with more than 206 features as many as take 64 MiB:
	// with 785 features 20,092.
	Pending int
	// Expire is the age at which a decision's feedback comes too late; 0 is none.
	Expire time.Duration
	// Reward is for decisions without a reward, and with several; zero learns at once from the first.
	Reward Reward
	// Forget is how much a reward counts against the next one, above 0.5 and at most 1: n rewards later it counts
	// Forget^n. 0 is 1: nothing is forgotten. It is for Contextual; other agents forget by a Window of the data (Replay).
	Forget float64
	// Waves is the number of random cosines by which Contextual sees a context; 0 is 200, and None makes rewards a line
	// in the context. More of them see more detail, and cost more.
	Waves int
	// CosinesAlone makes Contextual what it was before December 2026: without a line beside the cosines. Files of agents
	// of that time need it.
	CosinesAlone bool
	// Change tests whether the world has changed; nil is no test.
	Change *Change
	// Background trains while the agent acts; nil makes Observe train.
	Background *Background
	Seed       uint64
	Backend    string // as backend.Open; "" is its default

	fault error // of what Arms, Linear, Neural or Contextual was asked for
}

func (c Config) withDefaults() Config {
	if c.Learner.Policy == nil {
		c.Learner.Policy = explore.Thompson{N: 100}
	}
	c.Learner = c.Learner.WithDefaults()
	if c.Encoding != nil {
		e := *c.Encoding
		e.Code = cmp.Or(e.Code, AsOneHot)
		c.Encoding, c.Features = &e, cmp.Or(c.Features, e.Width())
	}
	c.Floor = cmp.Or(c.Floor, 0.01)
	c.Replay = cmp.Or(c.Replay, Growth)
	c.Pending = cmp.Or(c.Pending, defaultPending(c.Features))
	c.Background, c.Change = c.Background.withDefaults(), c.Change.withDefaults()
	if t := &c.Learner.Train; t.Replays() {
		t.Inputs = max(c.Features, 0)
		if c.Replay == Growth {
			t.Capacity = cmp.Or(t.Capacity, mostRows)
		}
	}
	return c
}

// validate joins every fault, in the order of the fields, or is the one fault that others come of.
func (c Config) validate() error {
	if c.fault != nil {
		return c.fault
	}
	return errors.Join(
		faults.Prefix("Learner.", c.Learner.Validate()),
		c.checkFeatures(),
		faults.Known("Replay", c.Replay),
		c.checkWindow(),
		c.checkContextual(),
		checkFloor(c.Floor),
		c.checkPending(),
		c.checkReward(),
		c.checkChange(),
		c.Background.validate(),
		faults.Prefix("Backend: ", backend.Check(cmp.Or(c.Backend, backend.Default()))))
}

// checkWindow reports a window of data for a belief that cannot forget.
func (c Config) checkWindow() error {
	if c.Replay == Window && c.conditioned() {
		return fmt.Errorf("Replay window is not for %T, which keeps what it knows of all inputs; use growth or reservoir",
			c.Learner.Belief)
	}
	return nil
}

// None says that there is none of what an option counts, where 0 is its default.
const None = -1

// checkContextual reports options of Contextual in the Config of another agent.
func (c Config) checkContextual() error {
	var errs []error
	if c.Forget != 0 && c.Forget != c.Learner.Train.Discount {
		errs = append(errs, errors.New("Forget must be 0 but for Contextual: other agents forget by Replay: Window"))
	}
	_, ok := c.Learner.Belief.(hyper.BayesianLinear)
	if c.Waves != 0 && !ok {
		errs = append(errs, errors.New("Waves must be 0 but for Contextual: other agents have no cosines"))
	}
	if c.CosinesAlone {
		errs = append(errs, errors.New("CosinesAlone must be false but for Contextual: other agents have no cosines"))
	}
	return errors.Join(errs...)
}

// conditioned tells whether the belief keeps what it knows of inputs beside the data.
func (c Config) conditioned() bool { return hyper.CapabilitiesOf(c.Learner.Belief).Conditioned != nil }

// checkPending reports a Pending or an Expire that is out of range.
func (c Config) checkPending() error {
	err := faults.AtLeast("Pending", c.Pending, 1)
	if c.Expire < 0 {
		err = errors.Join(err, fmt.Errorf("Expire must not be negative, got %v", c.Expire))
	}
	return err
}

// checkFeatures reports Features that are not the inputs of the belief.
func (c Config) checkFeatures() error {
	if c.Features < 0 {
		return faults.AtLeast("Features", c.Features, 0)
	}
	if e := c.Encoding; e != nil {
		if err := e.Validate(); err != nil {
			return faults.Prefix("Encoding.", err)
		}
		if c.Features != e.Width() {
			return fmt.Errorf("Features must be %d, the width of the Encoding, or 0, got %d", e.Width(), c.Features)
		}
		if n := blocks(c.Learner.Belief); n > 0 && c.numbered() > n {
			return fmt.Errorf("Encoding.Arms must be at most %d, the Blocks of Learner.Belief, got %d", n, e.Arms)
		}
	}
	b, ok := c.Learner.Belief.(hyper.FixedInputs)
	if !ok || faults.Value("Belief", c.Learner.Belief) != nil || faults.Of(c.Learner.Belief) != nil {
		return nil
	}
	if n := b.Inputs(); n >= 0 && c.Features != n {
		return fmt.Errorf("Features must be %d, the inputs of Learner.Belief, got %d", n, c.Features)
	}
	return nil
}

// numbered is how many arms there are where an input begins with the number of one; elsewhere it is 0.
func (c Config) numbered() int {
	if e := c.Encoding; e != nil && e.Arms > 0 && e.Code == AsNumber {
		return e.Arms
	}
	return blocks(c.Learner.Belief)
}

// blocks is how many blocks a belief knows by their numbers, with which its inputs begin; 0 is none.
func blocks(b hyper.Belief) int {
	if l, ok := b.(hyper.BayesianLinear); ok && l.Numbered {
		return max(l.Blocks, 1)
	}
	return 0
}
