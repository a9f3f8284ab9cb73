package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

func (s *Server) shown(ctx context.Context, r *api.ShownRequest) (*api.ShownReply, error) {
	if s.source != nil {
		return nil, fmt.Errorf("%w: send shown decisions to the server that learns, %s", errReads, s.source.url)
	}
	ids, one := r.IDs, r.ID != ""
	switch {
	case one && len(ids) > 0:
		return nil, bad("give one decision, by id, or an array of ids, and not both")
	case one:
		ids = []string{r.ID}
	case len(ids) == 0:
		return nil, bad("there is no decision: give id, or an array of ids, as /v1/decide answered them")
	case len(ids) > mostRewards:
		return nil, bad("ids has %d ids; a request may have at most %d", len(ids), mostRewards)
	}
	a, done := s.agent()
	defer done()
	out := &api.ShownReply{}
	errs := a.ShownEach(ctx, ids...)
	for i := range errs {
		errs[i] = withHint(errs[i])
	}
	var err error
	out.Shown, out.Errors, err = results(ctx, errs, one, func(i int) string { return ids[i] })
	return out, err
}

// withHint adds advice to the error of a decision that the agent does not remember.
func withHint(err error) error {
	switch {
	case errors.Is(err, agent.ErrUnknown):
		return fmt.Errorf("%w; send the id that /v1/decide answered", err)
	case errors.Is(err, agent.ErrExpired):
		return fmt.Errorf("%w; pending and expire in the agent's file say how long decisions wait for rewards", err)
	}
	return err
}
