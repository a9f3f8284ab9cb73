// Package agentfile reads the JSON file that describes an agent for a service, and translates it for package agent: an
// [api.Spec] to an agent.Config, and the names in requests to the agent's numbers. Package serve runs such an agent
// behind HTTP, and package offline trains it on a log.
package agentfile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/internal/strict"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// Names returns the names of features in the form of package agent.
func Names(f api.Features) agent.Names { return agent.Names{Known: f.Names, Buckets: f.Buckets} }

// rewardOf returns the agent.Reward of a RewardRule.
func rewardOf(w api.RewardRule) (agent.Reward, error) {
	r := agent.Reward{Wait: time.Duration(w.Wait), Default: w.Default}
	if w.Combine == "" {
		return r, nil
	}
	if r.Combine = enum.Of[agent.Combine](w.Combine); r.Combine == 0 {
		return r, fmt.Errorf("reward.combine must be first, sum, max or last, got %q", w.Combine)
	}
	return r, nil
}

// Config returns the configuration of the agent that a Spec describes. The error joins everything that is wrong.
func Config(s api.Spec) (agent.Config, error) {
	if err := errors.Join(checkNames(s), checkNumbers(s)); err != nil {
		return agent.Config{}, err
	}
	c, err := uncheckedConfig(s)
	switch {
	case err != nil:
	case len(s.Like) > 0 && !c.AddsArms():
		err = fmt.Errorf("like must be left out: learner %q has no separate belief for each arm, and learns anew from the "+
			"log if arms are added", LearnerName(s))
	case s.Replay == agent.Window.String() && c.Replay != agent.Window:
		err = errors.New("replay window is not for this learner, which keeps sums over all rewards: leave replay out; " +
			"to forget, use change with restart, the setting discount of bayesian-linear, or a learner that keeps data")
	}
	return c, err
}

// uncheckedConfig is Config without the checks of names and numbers.
func uncheckedConfig(s api.Spec) (agent.Config, error) {
	c := agent.Config{Seed: s.Seed, Floor: s.Floor, Pending: s.Pending, Expire: time.Duration(s.Expire),
		Backend: s.Backend}
	if s.Background > 0 {
		c.Background = &agent.Background{CPU: s.Background}
	}
	if s.Change != (api.ChangeTest{}) {
		c.Change = &agent.Change{Run: s.Change.Run, Restart: s.Change.Restart}
	}
	var err error
	if c.Reward, err = rewardOf(s.Reward); err != nil {
		return c, err
	}
	problem := bandit.Problem{Actions: len(s.Arms)}
	if e := encoding(s); e != nil {
		if err := e.Validate(); err != nil {
			return c, err
		}
		c.Encoding, c.Features = e, e.Width()
		problem.Features, problem.Moves = e.Width(), true
		if e.Code == agent.AsNumber {
			problem.Blocks, problem.Numbered = e.Arms, true
		}
	}
	if err := setLearner(&c, s, problem); err != nil {
		return c, err
	}
	c.Learner.Train.Capacity = s.Capacity
	if s.Replay != "" {
		if c.Replay, err = replayOf(s.Replay); err != nil {
			return c, err
		}
	}
	if c.Replay == agent.Window && !c.Learner.WithDefaults().Train.Replays() {
		c.Replay = 0 // Config reports it
	}
	return c, nil
}

// setLearner sets the learner of a configuration. Weights of feedback need a learner whose training supports them.
func setLearner(c *agent.Config, s api.Spec, p bandit.Problem) error {
	if alone := c.Encoding == nil; alone && s.Learner == "" {
		noise, err := armNoise(s)
		if err != nil {
			return err
		}
		c.Learner.NoiseVariance = noise
		*c = c.Arms(len(s.Arms))
		c.Learner.Train.Weighted = true
		return nil
	} else if alone && s.Learner == BayesianLinear {
		return errors.New("learner bayesian-linear needs a context; leave learner out for arms alone")
	}
	l, err := catalog.For(LearnerName(s), p, s.Set)
	if err != nil {
		return err
	}
	l.Train.Weighted = l.Train.Integrate == train.Sampled || l.Train.Integrate == train.Exact
	c.Learner = l
	return nil
}

// armNoise returns the noise variance of arms without a context and without a learner, which is their only setting; 0
// means the default.
func armNoise(s api.Spec) (float64, error) {
	var set struct {
		NoiseVariance *float64 `json:"noise-variance"`
	}
	if len(s.Set) == 0 {
		return 0, nil
	}
	if err := strict.WithoutNull(s.Set, &set); err != nil {
		return 0, fmt.Errorf("set: %w; arms without a context only take noise-variance, and other settings need learner, "+
			"a learner of `hyper list parts`", err)
	}
	v := set.NoiseVariance
	if v == nil {
		return 0, nil
	}
	if !(*v > 0) || math.IsInf(*v, 0) {
		return 0, fmt.Errorf("set: noise-variance must be positive and finite, got %v", *v)
	}
	return *v, nil
}

const BayesianLinear = "bayesian-linear"

// LearnerName returns the name of the learner.
func LearnerName(s api.Spec) string { return cmp.Or(s.Learner, BayesianLinear) }

// encoding returns the Encoding of the Spec's numbers, or nil for arms without a context.
func encoding(s api.Spec) *agent.Encoding {
	context, action := Names(s.Context).Len(), Names(s.Action).Len()
	if len(s.Arms) > 0 && context == 0 {
		return nil
	}
	e := &agent.Encoding{Context: context, Action: action, Arms: len(s.Arms), Cross: s.Cross, Standardize: !s.Raw,
		Code: agent.AsOneHot}
	if len(s.Arms) > 0 && LearnerName(s) == BayesianLinear {
		e.Code = agent.AsNumber
	}
	return e
}

// checkNames reports names that are wrong or missing.
func checkNames(s api.Spec) error {
	errs := []error{faults.Prefix("context: ", Names(s.Context).Validate()),
		faults.Prefix("action: ", Names(s.Action).Validate())}
	switch {
	case len(s.Arms) > 0 && Names(s.Action).Len() > 0:
		errs = append(errs, errors.New("arms and action exclude each other: actions have names, or features"))
	case len(s.Arms) == 0 && Names(s.Action).Len() == 0:
		errs = append(errs, errors.New("arms or action must be given: there is nothing to choose from"))
	case len(s.Arms) == 1:
		errs = append(errs, errors.New("arms must have at least two names"))
	}
	for i, arm := range s.Arms {
		if arm == "" || slices.Contains(s.Arms[:i], arm) {
			errs = append(errs, fmt.Errorf("arms must have different names, got %q at place %d", arm, i))
		}
	}
	for _, arm := range slices.Sorted(maps.Keys(s.Like)) {
		switch {
		case !slices.Contains(s.Arms, arm):
			errs = append(errs, fmt.Errorf("like: arm %.40q is not in arms: leave it out of like, or add it to arms", arm))
		case s.Like[arm] == arm, s.Like[arm] == "":
			errs = append(errs, fmt.Errorf("like: arm %.40q must begin like another arm, got %.40q", arm, s.Like[arm]))
		}
	}
	return errors.Join(errs...)
}

func replayOf(word string) (agent.Replay, error) {
	if r := enum.Of[agent.Replay](word); r != 0 {
		return r, nil
	}
	return 0, fmt.Errorf("replay must be growth, reservoir or window, got %q", word)
}

// ConfigWithArms returns the configuration of the agent that a Spec describes, with other arms. It does not check names
// and numbers, because a check needs two arms.
func ConfigWithArms(s api.Spec, arms []string) (agent.Config, error) {
	s.Arms, s.Like = arms, nil
	return uncheckedConfig(s)
}
