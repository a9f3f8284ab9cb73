package agent

import (
	"errors"
	"fmt"
	"time"

	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Reward defines what the agent learns from a decision that gets no reward, and from a decision that gets several. The
// zero value learns at once from the first reward, and nothing from a decision without a reward. It is right if every
// decision gets a reward, even a reward of 0. If a service sends only clicks, set a Wait and a Default of 0: a decision
// without a click then teaches 0. Example: two pages are clicked 5 and 6 times in 100. With the Default, the better
// page gets 93% or more of the decisions after 18,000 decisions. Without a Default it gets half (TestSilenceTeaches).
// Rare clicks are mostly noise: the agent of [Config.Arms] explores long enough with a Learner.NoiseVariance of 1.
//
// A decision is settled when the agent learns from it: at its first reward, or when its Wait is over. So the agent
// knows only clicks until the first Wait is over, and may choose worse than at random. With Maximum as its Combine, it
// learns clicks when the Wait is over, too (TestSilenceComesLate). If Pending later decisions push a decision out, it
// is settled before it is forgotten, so that a busy agent also learns from missing rewards. The log records when
// decisions were settled. Replay repeats this, and does not use the clock. Each decision is settled once, even if the
// program ends in between.
//
// A reward that arrives later, and before Expire, replaces the Default or is combined with the other rewards. The agent
// then corrects what it has learned: see [train.Trainer.Revise]. The weight of such a reward must equal the weight of
// the datum, which is 1 for the Default. The test of change (Config.Change) is not repeated. An agent that has
// restarted since then corrects nothing.
type Reward struct {
	// Wait is the time for which the agent waits for rewards, from the decision on, or from Shown on if the decision is
	// deferred. Default and Combine need it. It must be at most Config.Expire, if that is set.
	Wait time.Duration
	// Default is the reward of a decision that got none; with nil, such a decision teaches nothing. It counts as one
	// feedback.
	Default *float32
	// Combine combines several rewards of a decision; 0 means First.
	Combine Combine
}

// Combine is the rule that combines several rewards of one decision.
type Combine int

const (
	// First learns at once from the first reward, and ignores later rewards.
	First Combine = iota + 1
	// Sum learns the sum of the rewards when the Wait is over. Every reward that arrives counts, so none may be sent
	// twice.
	Sum
	// Maximum learns the largest reward when the Wait is over.
	Maximum
	// Last learns the reward that arrived last when the Wait is over.
	Last
)

func (c Combine) String() string { return enum.Word(c, "first", "sum", "max", "last") }

// waits reports whether decisions are settled by time.
func (r Reward) waits() bool { return r.Default != nil || r.keeps() }

// keeps reports whether rewards are kept until the wait is over.
func (r Reward) keeps() bool { return r.Combine > First }

// with returns the reward of a decision after one more reward y.
func (c Combine) with(w outcome, y float32) float32 {
	switch {
	case !w.Rewarded || c == Last:
		return y
	case c == Sum:
		return w.Reward + y
	case c == Maximum:
		return max(w.Reward, y)
	}
	return w.Reward
}

// checkReward reports an invalid Reward.
func (c Config) checkReward() error {
	r := c.Reward
	var errs []error
	if r.Combine != 0 {
		errs = append(errs, faults.Known("Combine", r.Combine))
	}
	switch {
	case r.Wait < 0:
		errs = append(errs, fmt.Errorf("Wait must not be negative, got %v", r.Wait))
	case r.Wait == 0 && r.waits():
		errs = append(errs, errors.New("Wait must be set with a Default, or with a Combine other than first: it is the time for which "+
			"the agent waits for rewards"))
	case r.Wait > 0 && !r.waits():
		errs = append(errs, errors.New("Wait needs a Default, or a Combine other than first: without them nothing waits"))
	case c.Expire > 0 && r.Wait > c.Expire:
		errs = append(errs, fmt.Errorf("Wait must be at most Expire, %v, got %v", c.Expire, r.Wait))
	}
	if r.Default != nil {
		if err := checkResponse(c.Learner.Train.Loss, *r.Default); err != nil {
			errs = append(errs, fmt.Errorf("Default: %s", err)) // %s, so that the fault stays one line
		}
	}
	return faults.Prefix("Reward.", errors.Join(errs...))
}

// checkResponse reports a response that a loss does not accept, or that is too large.
func checkResponse(loss train.Loss, y float32) error {
	if tooLarge(y) {
		return fmt.Errorf("the reward is too large, or %w: it must be between -1e18 and 1e18, got %v", ErrNotFinite, y)
	}
	if loss, ok := loss.(train.Bounded); ok {
		if err := loss.Takes(float64(y)); err != nil {
			return fmt.Errorf("%w: %w", ErrReward, err)
		}
	}
	return nil
}

// checkFeedback reports a response and a weight that the agent cannot learn from.
func (a *Agent) checkFeedback(y, weight float32) error {
	if tooLarge(y) { // check this before the weight and the loss
		return checkResponse(nil, y)
	}
	if err := a.checkWeight(weight); err != nil {
		return err
	}
	return checkResponse(a.config.Learner.Train.Loss, y)
}
