package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/agent"
)

// Shown is what /v1/shown tells: that decisions which were deferred have been shown. It is one, by ID, or a list.
type Shown struct {
	ID  string   `json:"id,omitempty"`
	IDs []string `json:"ids,omitempty"`
}

// Waits is the answer: how many decisions wait for their rewards now, or did or had them before, and what is wrong with
// each of the others.
type Waits struct {
	Shown  int      `json:"shown"`
	Errors []Refuse `json:"errors,omitempty"`
}

func (s *Server) shown(ctx context.Context, r *Shown) (*Waits, error) {
	if s.source != nil {
		return nil, fmt.Errorf("%w: what was shown is for the server that made the decision, %s", errReads, s.source.url)
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
		return nil, bad("ids has %d; a request may have %d", len(ids), mostRewards)
	}
	a, done := s.agent()
	defer done()
	out := &Waits{}
	for _, id := range ids {
		err := late(a.Shown(ctx, id))
		switch {
		case err == nil:
			out.Shown++
		case one, ctx.Err() != nil, errors.Is(err, agent.ErrLog):
			return nil, err
		default:
			out.Errors = append(out.Errors, Refuse{id, err.Error()})
		}
	}
	return out, nil
}

// late adds to the error of a decision that is not there what to do.
func late(err error) error {
	switch {
	case errors.Is(err, agent.ErrUnknown):
		return fmt.Errorf("%w; send the id that /v1/decide answered", err)
	case errors.Is(err, agent.ErrExpired):
		return fmt.Errorf("%w; pending and expire in the agent's file say how long decisions wait for rewards", err)
	}
	return err
}
