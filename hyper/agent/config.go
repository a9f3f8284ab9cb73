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

// Config describes an agent: a learner, and how a service runs it. Learner.Belief is required; set it directly, or with
// [Config.Arms], [Config.Linear], [Config.Neural], [Config.Contextual] or [Config.ContextualNeural]. All other fields
// have defaults.
type Config struct {
	// Learner learns and explores; experiments take the same value. Its Train.Capacity is the largest number of data
	// that are kept, see Replay. Train.Inputs is set to Features. A nil Policy is explore.Thompson{N: 100}: 100
	// functions are enough to estimate the probabilities of actions as shares.
	Learner learner.Learner
	// Features is the length of an input x. 0 means arms: an input is then one number, the arm.
	Features int
	// Encoding makes inputs from the numbers of a Menu, as a service sends it. nil means that a Menu already has the
	// inputs. If Encoding is set and Features is 0, Features becomes the Encoding's Width.
	Encoding *Encoding
	// Replay selects which data are kept when there are many, if Train keeps data. 0 means Growth; the other values
	// need a Train.Capacity. Window is an error if the agent cannot drop data, see Window.
	Replay Replay
	// Floor is the probability, in (0, 1], that Act ignores the Policy and takes an action uniformly at random. Every
	// action therefore has a probability of at least Floor over the number of actions. 0 means 0.01. A negative number
	// means none, as in experiments.
	Floor float64
	// Pending is the number of decisions that the agent remembers while they wait for feedback. If there are more, the
	// oldest decision expires. A decision takes 4 bytes for each feature, and 200 bytes more. 0 means 65,536. With more
	// than 206 features, 0 means the number of decisions that take 64 MiB: 20,092 with 785 features.
	Pending int
	// Expire is the age of a decision at which its feedback is too late. 0 means that decisions do not expire by age.
	Expire time.Duration
	// Reward defines what the agent learns from decisions without a reward, and from decisions with several. With the
	// zero value the agent learns at once from the first reward.
	Reward Reward
	// Forget is the factor by which each new reward multiplies the weights of all earlier rewards, above 0.5 and at most
	// 1. After n more rewards, a reward has the weight Forget^n. 0 means 1: nothing is forgotten. Forget is for
	// Contextual. Every agent can forget by Change with Restart. Neural and ContextualNeural can forget with a Window of
	// the data (Replay), and so can Arms and Linear if Learner.Train.Integrate is train.Sampled or train.Analytic.
	Forget float64
	// Waves is the number of random cosines of the context that Contextual uses. 0 means 200. None means no cosines:
	// rewards are then a linear function of the context. More cosines can represent more detail, and cost more time.
	Waves int
	// Change tests whether the world has changed. nil means no test.
	Change *Change
	// Background trains while the agent acts. nil means that Observe trains.
	Background *Background
	Seed       uint64
	Backend    string // a name for backend.Open; "" is its default

	fault error // the error in the arguments of Arms, Linear, Neural, Contextual or ContextualNeural
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

// validate returns every fault, in the order of the fields. If c.fault is set, it returns only c.fault, because the
// other faults would follow from it.
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

// checkWindow reports a window of data for an agent that cannot drop data.
func (c Config) checkWindow() error {
	switch {
	case c.Replay != Window:
		return nil
	case !c.Learner.Train.Replays():
		return fmt.Errorf("Replay window is not for Learner.Train.Integrate %s, which keeps sums over all data; use "+
			"growth; to forget, set %s", c.Learner.Train.Integrate, c.waysToForget())
	case c.conditioned():
		return fmt.Errorf("Replay window is not for %T, which keeps what it knows of all inputs; use growth or reservoir",
			c.Learner.Belief)
	}
	return nil
}

// waysToForget names the options by which the agent can forget.
func (c Config) waysToForget() string {
	can := hyper.CapabilitiesOf(c.Learner.Belief)
	switch {
	case can.Conjugate != nil:
		return "Learner.Train.Discount (Forget, for Contextual), or Change with Restart"
	case can.Conditioned != nil:
		return "Change with Restart"
	}
	return "Change with Restart, or Replay to Window with Learner.Train.Capacity and Learner.Train.Integrate sampled"
}

// None is the value of an option for the number 0, because the value 0 means the option's default.
const None = -1

// checkForget reports a Forget of Contextual that is out of range.
func (c Config) checkForget() error {
	if f := c.Forget; f != 0 && !(f > 0.5 && f <= 1) {
		return fmt.Errorf("Forget must be above 0.5 and at most 1, got %v", f)
	}
	return nil
}

// checkWaves reports a negative number of cosines.
func (c Config) checkWaves() error {
	if c.Waves < None {
		return fmt.Errorf("Waves must be at least 1, 0 for the default, or None for no cosines, got %d", c.Waves)
	}
	return nil
}

// checkContextual reports options of Contextual in the Config of another agent.
func (c Config) checkContextual() error {
	var errs []error
	switch {
	case c.Forget == 0 || c.Forget == c.Learner.Train.Discount:
	case c.Learner.Train.Discount != 0:
		errs = append(errs, fmt.Errorf("Forget is %v and Learner.Train.Discount is %v: set one of them", c.Forget,
			c.Learner.Train.Discount))
	default:
		errs = append(errs, fmt.Errorf("only Contextual supports Forget: set Forget to 0; to forget, set %s",
			c.waysToForget()))
	}
	b, ok := c.Learner.Belief.(hyper.BayesianLinear)
	if c.Waves != 0 && (!ok || b.Waves != max(c.Waves, 0)) {
		errs = append(errs, errors.New("only Contextual supports Waves: set Waves to 0, because other agents have no cosines"))
	}
	return errors.Join(errs...)
}

// readsRefused reports whether the agent learns something from data for which the reservoir has no room.
func (c Config) readsRefused() bool {
	t := c.Learner.Train
	return c.conditioned() || t.Standardize && t.Replays() && c.Replay != Window
}

// conditioned reports whether the belief stores, in addition to the data, what it learned from their inputs.
func (c Config) conditioned() bool { return hyper.CapabilitiesOf(c.Learner.Belief).Conditioned != nil }

// checkPending reports a Pending or an Expire that is out of range.
func (c Config) checkPending() error {
	err := faults.AtLeast("Pending", c.Pending, 1)
	if c.Expire < 0 {
		err = errors.Join(err, fmt.Errorf("Expire must not be negative, got %v", c.Expire))
	}
	return err
}

// checkFeatures reports Features that are not the number of inputs of the belief.
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

// numbered returns the number of arms if an input begins with the number of an arm, and 0 otherwise.
func (c Config) numbered() int {
	if e := c.Encoding; e != nil && e.Arms > 0 && e.Code == AsNumber {
		return e.Arms
	}
	return blocks(c.Learner.Belief)
}

// blocks returns the number of blocks of a belief whose inputs begin with the number of a block, and 0 for other
// beliefs.
func blocks(b hyper.Belief) int {
	if l, ok := b.(hyper.BayesianLinear); ok && l.Numbered {
		return max(l.Blocks, 1)
	}
	return 0
}
