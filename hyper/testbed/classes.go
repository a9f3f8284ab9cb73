package testbed

import (
	"maps"

	. "github.com/gomlx/gomlx/core/graph"
)

// classScorer scores [Classes]: by the log-likelihood of tau classes together.
type classScorer struct{}

func (classScorer) draw(e *exam, in named[*Node]) named[*Node] {
	s := e.stream(in[seedName])
	d := e.Draw(s, e.trial.env, in[thetaName], in[rhoName])
	out := d.nodes()
	if !e.projected {
		maps.Copy(out, newMeanLikelihood(s.Graph(), s.Runs(), e.Batches).nodes())
	}
	return out
}

func (classScorer) add(in named[*Node], f, weights *Node) named[*Node] {
	return mixture(in).Accumulate(drawn(in).LogLikelihood(f), weights).nodes()
}

func (classScorer) cost(in named[*Node]) *Node {
	ll := in["ll"] // only set by projection
	if ll == nil {
		ll = mixture(in).Mean()
	}
	return drawn(in).less(ll)
}
