// Package worlds lists, as experiments, the worlds that are not in the paper. `hyper run NAME` runs any learner in
// them.
package worlds

import (
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/learners"
)

// world describes an experiment of this package.
type world struct {
	name, title string
	new         func() bandit.World
	sets        []string // settings that learners have unless others are given
}

var all = []world{
	{"table", "Rows of a table, a file or a data set: a contextual bandit",
		func() bandit.World { return bandit.NewTable() }, nil},
	{"drifting", "Gaussian bandit whose mean rewards drift", func() bandit.World { return bandit.NewDrifting() }, nil},
	{"neural-logistic", "Neural bandit of rewards 0 or 1 (Osband et al. 2023)",
		func() bandit.World { return bandit.NewNeuralLogistic() }, []string{"loss=logistic", "perturbation=0"}},
}

// Order lists the names of the experiments. Known maps each name to its experiment.
var Order, Known = experiments()

// experiments makes an experiment for each world, with learners that suit any world.
func experiments() (order []string, known map[string]lab.Experiment) {
	known = map[string]lab.Experiment{}
	for _, w := range all {
		order = append(order, w.name)
		known[w.name] = lab.Experiment{
			Name: w.name, Title: w.title, World: w.new, Others: learners.Known,
			Order: []string{"linear", "ensemble", "egreedy"}, Sets: w.sets,
			Quick: lab.Size{Periods: 500, Runs: 8}, Full: lab.Size{Periods: 10_000, Runs: 100},
		}
	}
	return order, known
}
