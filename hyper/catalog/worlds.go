package catalog

import (
	"errors"

	"github.com/hypermodels/hypermodels/hyper/bandit"
)

// World describes a world that every learner can run in.
type World struct {
	New  func() bandit.World // returns the world with its defaults, a pointer to a struct whose fields are keys
	Sets []string            // "key=value" settings that suit the world, for keys that have no given value
}

// Worlds lists the worlds that are experiments of their own, in addition to the experiments of the paper and of later
// work. `hyper run NAME` runs any learner in them.
func Worlds() []Entry[World] { return worlds.all() }

// AddWorld adds a world. sets are settings that suit it. The world must not have the key delay, which delays the
// rewards of every world.
func AddWorld(name, doc string, world func() bandit.World, sets ...string) {
	err := checkFields(structOf(world()).Type(), true)
	if err == nil && HasKey(world(), "delay") {
		err = errors.New("its key delay is the key of every experiment that delays rewards; give the field another key by " +
			"the tag `key`")
	}
	worlds.add(Entry[World]{name, doc, World{world, sets}}, err)
}

var worlds = &list[World]{kind: "world", entries: []Entry[World]{
	{"table", "Rows of a table, a file or a data set: a contextual bandit",
		World{New: func() bandit.World { return bandit.NewTable() }}},
	{"drifting", "Gaussian bandit whose mean rewards drift",
		World{New: func() bandit.World { return bandit.NewDrifting() }}},
	{"neural-logistic", "Neural bandit of rewards 0 or 1 (Osband et al. 2023)",
		World{New: func() bandit.World { return bandit.NewNeuralLogistic() },
			Sets: []string{"loss=logistic", "perturbation=0"}}},
}}
