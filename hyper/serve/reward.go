package serve

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// mostRewards is the largest number of rewards in a request.
const mostRewards = 10_000

func (s *Server) reward(ctx context.Context, r *api.RewardRequest) (*api.RewardReply, error) {
	if s.source != nil {
		return nil, fmt.Errorf("%w: send rewards to the server that learns, %s", errReads, s.source.url)
	}
	all, one, err := rewardsIn(r)
	if err != nil {
		return nil, err
	}
	a, done := s.agent()
	defer done()
	out := &api.RewardReply{}
	out.Taken, out.Errors, err = results(ctx, s.take(ctx, a, all), one, func(i int) string { return all[i].ID })
	return out, err
}

// results counts the changes without an error, and lists the errors of the others with the IDs of their decisions. An
// error that concerns the whole request is returned: the only error of one change, or that the agent takes no more.
func results(ctx context.Context, errs []error, one bool, id func(i int) string) (done int,
	failed []api.DecisionError, err error) {
	for i, err := range errs {
		switch {
		case err == nil:
			done++
		case one, ctx.Err() != nil, errors.Is(err, agent.ErrClosed), errors.Is(err, agent.ErrLog):
			return 0, nil, err
		default:
			failed = append(failed, api.DecisionError{ID: id(i), Error: err.Error()})
		}
	}
	return done, failed, nil
}

// rewardsIn returns the rewards of a request. one reports whether the request has the form of one reward.
func rewardsIn(r *api.RewardRequest) (all []api.Reward, one bool, err error) {
	all, one = r.List, r.ID != "" || r.Reward != nil
	switch {
	case one && len(all) > 0:
		return nil, false, bad("give one reward, by id and reward, or an array of rewards, and not both")
	case one:
		all = []api.Reward{{ID: r.ID, Reward: r.Reward, Weight: r.Weight}}
	case len(all) == 0:
		return nil, false, bad("there is no reward: give id and reward, or an array of rewards")
	case len(all) > mostRewards:
		return nil, false, bad("rewards has %d rewards; a request may have at most %d", len(all), mostRewards)
	}
	for i, f := range all {
		at := ""
		if !one {
			at = fmt.Sprintf("rewards[%d].", i)
		}
		if f.ID == "" {
			return nil, false, bad("%sid is missing: send the id that /v1/decide answered", at)
		}
		if f.Reward == nil {
			return nil, false, bad("%sreward is missing: send a number", at)
		}
	}
	return all, one, nil
}

// take lets the agent learn from rewards, and returns the error of each.
func (s *Server) take(ctx context.Context, a served, all []api.Reward) []error {
	errs := make([]error, len(all))
	var right []int
	var feedback []agent.Feedback
	for i, f := range all {
		if w := f.Weight; !a.weighted && w != 0 && w != 1 {
			errs[i] = fmt.Errorf("%w: weight must be left out, because the agent's learner counts each reward once, got %v",
				agent.ErrReward, w)
			continue
		}
		right, feedback = append(right, i), append(feedback, agent.Feedback{ID: f.ID, Reward: *f.Reward, Weight: f.Weight})
	}
	begun := time.Now()
	for k, err := range a.ObserveEach(ctx, feedback...) {
		errs[right[k]] = withHint(err)
	}
	took := time.Since(begun) / time.Duration(len(all))
	for i, f := range all {
		if errs[i] == nil {
			if c := a.Spec.Reward.Combine; c == "" || c == agent.First.String() { // other rules count at the settlement
				s.active.rewarded(f.ID, *f.Reward)
			}
			s.calib.rewarded(f.ID, *f.Reward)
		}
		s.metrics.rewarded(*f.Reward, errs[i], took)
	}
	return errs
}
