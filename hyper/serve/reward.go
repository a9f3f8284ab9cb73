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
	for _, f := range all {
		err := s.take(ctx, a, f)
		switch {
		case err == nil:
			out.Taken++
		case one, ctx.Err() != nil, errors.Is(err, agent.ErrClosed):
			return nil, err
		default:
			out.Errors = append(out.Errors, api.DecisionError{ID: f.ID, Error: err.Error()})
		}
	}
	return out, nil
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

func (s *Server) take(ctx context.Context, a served, f api.Reward) error {
	if w := f.Weight; !a.weighted && w != 0 && w != 1 {
		return fmt.Errorf("%w: weight must be left out, because the agent's learner counts each reward once, got %v",
			agent.ErrReward, w)
	}
	begun := time.Now()
	err := a.Observe(ctx, agent.Feedback{ID: f.ID, Reward: *f.Reward, Weight: f.Weight})
	if err == nil {
		if c := a.Spec.Reward.Combine; c == "" || c == agent.First.String() { // other rules count at the settlement
			s.active.rewarded(f.ID, *f.Reward)
		}
		s.calib.rewarded(f.ID, *f.Reward)
	}
	s.metrics.rewarded(*f.Reward, err, time.Since(begun))
	return withHint(err)
}
