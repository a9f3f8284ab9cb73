// Package lab runs experiments: many independent runs of an agent in a world. It compiles the runs into one program
// over a State of tensors, and appends their results to a file. A process that was killed resumes exactly.
//
//	size := lab.Size{Periods: 1000, Runs: 20}
//	spec, err := paper.Gaussian.Spec([]string{"exact", "linear"}, []string{"arms=10"}, size, 1)
//	...
//	h, rows, err := lab.Simulate(ctx, spec, paper.Known, lab.Options{})
//
// A [Setting] is a world with the settings of a learner for it. A [Spec] lists settings, periods, runs and a seed.
// [Run] divides the Spec into batches of runs, compiles one program for each distinct shape, advances the batches over
// the periods, and writes a [Row] for each run at the periods of [Schedule].
//
// Package analysis turns rows into statistics. Package study judges claims by them. Package tune searches for the
// settings of an agent, and package sweep divides a Spec among processes and machines.
package lab

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// Experiment is a world with its agents. All learners of the catalogue also run in it, see
// [catalog.Learners].
type Experiment struct {
	Name, Title, Section string
	World                func() bandit.World       // returns the world with its defaults
	Agents               map[string]func() Learner // returns the agents with the defaults that they have in this world
	Order                []string                  // the order of the agents
	Sets                 []string                  // settings of a Spec for keys that have no given value, see [Experiment.Spec]
	Tuned                []SearchResult            // results of searches, for keys that a Spec is not given; they replace the agents' defaults
	Quick, Full          Size
	Failure              float64 // a run fails if its late regret per period is above this number; 0 if unknown
	// Target returns the average regret per period, over runs of the Full size, below which a setting performs well. It
	// is nil if the experiment has no target.
	Target func(*Setting) float64

	own map[string]ownLearner // the agents of WithLearner, by name
}

// ownLearner is an agent of one's own: a learner of the catalogue, with settings of its own.
type ownLearner struct {
	kind    string // name in the catalogue
	setting *Setting
	chosen  []string // keys that the Sets of the experiment and of its sizes leave alone
}

// Size is the number of periods and runs of an experiment.
type Size struct {
	Periods int `json:"periods"`
	Runs    int `json:"runs"`
	// Sets are settings of this size. They replace the experiment's own Sets for the same keys.
	Sets []string `json:"-"`
}

// String describes the size in words.
func (s Size) String() string {
	text := fmt.Sprintf("%d runs of %d periods", s.Runs, s.Periods)
	if len(s.Sets) > 0 {
		text += " with " + strings.Join(s.Sets, " ")
	}
	return text
}

// Find returns the experiment of a name: one of the known experiments, or a world of the catalogue with learners that
// suit every world, see [catalog.Worlds]. The error suggests a name.
func Find(known map[string]Experiment, name string) (Experiment, error) {
	if x, ok := known[name]; ok {
		return x, nil
	}
	worlds := catalog.Worlds()
	for _, w := range worlds {
		if w.Name == name {
			return Experiment{
				Name: name, Title: w.Doc, World: w.Value.New, Sets: w.Value.Sets,
				Order: []string{"linear", "ensemble", "egreedy"},
				Quick: Size{Periods: 500, Runs: 8}, Full: Size{Periods: 10_000, Runs: 100},
			}, nil
		}
	}
	names := slices.Concat(slices.Collect(maps.Keys(known)), catalog.Names(worlds))
	slices.Sort(names)
	return Experiment{}, fmt.Errorf("unknown experiment %q%s; the experiments are %s", name, nearest.Hint(name, names),
		strings.Join(names, ", "))
}

// New returns the default setting of an agent of the experiment, or of a learner of the catalogue.
func (x Experiment) New(agent string) (*Setting, error) {
	if x.World == nil {
		return nil, fmt.Errorf("experiment %q has no World", x.Name)
	}
	s, own := &Setting{World: x.World()}, x.own[agent]
	if f, ok := x.Agents[agent]; ok {
		if f == nil {
			return nil, fmt.Errorf("experiment %q: the function of its agent %q is nil", x.Name, agent)
		}
		s.Learner = f()
	} else if f, err := catalog.Find(cmp.Or(own.kind, agent)); err == nil {
		arms := s.World.Validate() == nil && s.World.Problem().Features == 0
		s.Learner = f(arms)
	} else {
		names := slices.Concat(x.Order, catalog.Names(catalog.Learners()))
		return nil, fmt.Errorf("experiment %s has no agent %q%s; its agents are %s%s", x.Name, agent,
			nearest.Hint(agent, names), strings.Join(x.Order, ", "), x.others())
	}
	if own.setting != nil {
		return s, s.copyValues(own.setting)
	}
	return s, catalog.Share(s) // a learner assumes what is true in the world
}

// newEntry is New for the agent of an entry, which may be a learner with settings of its own.
func (x Experiment) newEntry(agent, kind string) (*Setting, error) {
	if kind == "" || x.own[agent].kind != "" {
		return x.New(agent)
	}
	return x.withoutOwn().New(kind)
}

// withoutOwn returns the experiment without the agents of WithLearner, which can have the name of a learner.
func (x Experiment) withoutOwn() Experiment {
	x.own = nil
	return x
}

// others lists, for an error, the learners of the catalogue that are not agents of the experiment.
func (x Experiment) others() string {
	names := catalog.Names(catalog.Learners())
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(x.Order, name) })
	if len(names) == 0 {
		return ""
	}
	return "; other learners are " + strings.Join(names, ", ")
}

// WithLearner returns the experiment with one more agent: a learner of the catalogue, with settings of its own,
// which are a JSON object of keys and values. They have precedence over the Sets of the experiment.
func (x Experiment) WithLearner(name, kind string, settings json.RawMessage) (Experiment, error) {
	if _, err := catalog.Find(kind); err != nil {
		return x, err
	}
	if _, taken := x.Agents[name]; taken {
		return x, fmt.Errorf("experiment %s already has an agent %s; choose another name", x.Name, name)
	}
	s, err := x.withoutOwn().New(kind)
	if err != nil {
		return x, err
	}
	if err := catalog.SetAll(s, settings); err != nil {
		return x, err
	}
	var chosen map[string]json.RawMessage
	if err := json.Unmarshal(settings, &chosen); err != nil {
		return x, err
	}
	x.own = maps.Collect(maps.All(x.own)) // a copy, which is not nil
	x.own[name] = ownLearner{kind, s, slices.Collect(maps.Keys(chosen))}
	return x, nil
}
