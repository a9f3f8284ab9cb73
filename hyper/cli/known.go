package cli

import (
	"maps"

	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/notebook"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// known has all experiments by name, and claims has the claims about them.
var known, claims = notebook.Known, allClaims()

// laterWork stands for all experiments of later work, where `hyper check` accepts the name of an experiment.
const laterWork = "beyond"

func allClaims() map[string][]study.Claim {
	all := maps.Clone(paper.Claims)
	maps.Copy(all, beyond.Claims)
	return all
}
