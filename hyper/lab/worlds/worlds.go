// Package worlds lists the worlds that are none of the paper's, as experiments: `hyper run NAME` runs any learner in
// them.
package worlds

import (
	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/learners"
)

type world struct {
	name, title string
	new         func() bandit.World
	sets        []string // which learners have unless they are given others
}

var all = []world{
	{"table", "Rows of a table, a file or a data set: a contextual bandit",
		func() bandit.World { return bandit.NewTable() }, nil},
	{"drifting", "Gaussian bandit whose mean rewards drift", func() bandit.World { return bandit.NewDrifting() }, nil},
	{"neural-logistic", "Neural bandit of rewards 0 or 1 (Osband et al. 2023)",
		func() bandit.World { return bandit.NewNeuralLogistic() }, []string{"loss=logistic", "perturbation=0"}},
}

// Order is their names.
var Order, Known = experiments()

// experiments makes an experiment of each world, with the learners that suit any.
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
