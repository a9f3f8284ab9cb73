package agent

import (
	"errors"
	"fmt"
	"time"

	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Reward says what the agent makes of the rewards of one decision, of one, several or none. The zero value learns at
// once from the first reward, and nothing from a decision without a reward: right where each decision gets a reward, be
// it 0. Where a service sends clicks alone, a Default of 0 after a Wait is what a decision without a click teaches. Of
// two pages that are clicked 5 and 6 times in 100 the better one then has 93% or more of the decisions after 18,000;
// without a Default it has half of them (TestSilenceTeaches). Clicks that are rare are nearly all noise: the agent of
// [Config.Arms] explores for as long as they need with a Learner.NoiseVariance of 1.
//
// A decision is settled when the agent learns from it: at its first reward, or else when its Wait is over. When Pending
// later ones push it out, it is settled before it is forgotten, so that a busy agent does not lose what silence says.
// The log says when decisions were settled: replay repeats it, and looks at no clock. Each is settled once, also where
// the program ended in between.
//
// A reward that comes after that, and before Expire, takes the Default's place, or is combined with the others. What the
// agent learned is then corrected: see [train.Trainer.Revise]. The weight of such a reward must be that of the datum, 1
// for the Default. A test of change (Config.Change) is not made again, and an agent that has begun anew since corrects
// nothing.
type Reward struct {
	// Wait is how long rewards of a decision are waited for, from the decision on, or from Shown on where it is deferred.
	// It is needed by what follows, and at most Config.Expire, if there is one.
	Wait time.Duration
	// Default is the reward of a decision that got none; nil teaches nothing. It counts as one feedback.
	Default *float32
	// Combine is what becomes of several rewards; 0 is First.
	Combine Combine
}

// Combine is what becomes of several rewards of one decision.
type Combine int

const (
	// First learns at once from the first reward, and ignores those after it.
	First Combine = iota + 1
	// Sum learns the sum of the rewards when the Wait is over. Each reward that arrives counts, so that none may be sent
	// twice.
	Sum
	// Maximum learns the largest reward, likewise.
	Maximum
	// Last learns the reward that came last, likewise.
	Last
)

func (c Combine) String() string { return enum.Word(c, "first", "sum", "max", "last") }

// waits reports whether decisions are settled by time.
func (r Reward) waits() bool { return r.Default != nil || r.keeps() }

// keeps reports whether rewards are kept until the wait is over.
func (r Reward) keeps() bool { return r.Combine > First }

// with is the reward of a decision after one more, y.
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

// checkReward reports a Reward that cannot be.
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
		errs = append(errs, errors.New("Wait must be given with a Default, or a Combine other than first: how long are "+
			"rewards waited for?"))
	case r.Wait > 0 && !r.waits():
		errs = append(errs, errors.New("Wait needs a Default, or a Combine other than first: otherwise nothing waits"))
	case c.Expire > 0 && r.Wait > c.Expire:
		errs = append(errs, fmt.Errorf("Wait must be at most Expire, %v, got %v", c.Expire, r.Wait))
	}
	if r.Default != nil {
		if err := checkResponse(c.Learner.Train.Loss, *r.Default); err != nil {
			errs = append(errs, fmt.Errorf("Default: %s", err)) // one line of the fault
		}
	}
	return faults.Prefix("Reward.", errors.Join(errs...))
}

// checkResponse reports a response that a loss is not of, or that is too large.
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
	if tooLarge(y) { // before its weight, and before what the loss says of it
		return checkResponse(nil, y)
	}
	if err := a.checkWeight(weight); err != nil {
		return err
	}
	return checkResponse(a.config.Learner.Train.Loss, y)
}
