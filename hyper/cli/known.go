package cli

import (
	"maps"

	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// known has the experiments of the paper and of later work by name, and claims has the claims about them.
var known, claims = joined(paper.Known, beyond.Known), joined(paper.Claims, beyond.Claims)

// laterWork stands for all experiments of later work, where `hyper check` accepts the name of an experiment.
const laterWork = "beyond"

// joined returns the entries of both maps.
func joined[V any](a, b map[string]V) map[string]V {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}
