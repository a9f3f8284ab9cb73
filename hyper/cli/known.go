package cli

import (
	"maps"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/notebook"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// knownExperiments has the experiments of the paper and of later work by name. lab.Find adds the catalogue's worlds.
var knownExperiments = notebook.Known

var claimsOf = allClaims()

// laterWork stands for all experiments of later work, where `hyper check` accepts the name of an experiment.
const laterWork = "beyond"

func allClaims() map[string][]study.Claim {
	all := maps.Clone(paper.Claims)
	maps.Copy(all, beyond.Claims)
	return all
}

// experiment returns an experiment of hyper list.
func experiment(name string) (lab.Experiment, error) {
	if err := otherFile(name); err != nil {
		return lab.Experiment{}, err
	}
	if err := checkKnown("experiment", experiments(), name); err != nil {
		return lab.Experiment{}, err
	}
	return lab.Find(knownExperiments, name)
}

// experiments returns the names of all experiments: of the paper, of later work, and the worlds of the catalogue.
func experiments() []string {
	return slices.Concat(paper.Order, beyond.Order, catalog.Names(catalog.Worlds()))
}
