package lab

import (
	"fmt"
	"slices"
	"strings"
)

// Change is a commit that changed results: the rows of some entries differ on the same seeds and machine.
type Change struct {
	Epoch    int    // of results since then
	Revision string // the commit, or "" of the one that adds the line
	What     string // in a few words that end a sentence
	// What it touches: entries of these experiments and agents whose settings have one of the values. Empty is all.
	Experiments []string
	Agents      []string
	Sets        []string // "key=v1,v2"
}

// Changes are all commits that changed results of what was there before, from the oldest on; [Epoch] is that of the
// last. A commit that changes results adds a line here, with the next number, and records the golden digests anew (see
// TestGolden in package paper).
var Changes = []Change{
	{Epoch: 1, Revision: "bc9e383", What: "normal numbers are drawn in another way, and all that is random with them"},
	{Epoch: 2, Revision: "de8c335", What: "the ensemble of section 5 starts as draws of one-hot vectors",
		Experiments: []string{"ids"}, Agents: []string{"ensemble"}},
	{Epoch: 3, Revision: "ceb4744", What: "the step of a particle by Adam does not grow with the number of particles",
		Agents: []string{"ensemble"}, Sets: []string{"optimizer=adam"}},
	{Epoch: 4, Revision: "60b7b8f",
		What: "IDS adds up functions in an order that does not depend on the batch: other rounding",
		Sets: []string{"policy=ids"}},
	{Epoch: 5, Revision: "c853d51", What: "more than eight SGD steps are a loop on XLA for CPUs: other rounding",
		Sets: []string{"optimizer=adam,adamax,rmsprop", "sgd-steps=" + numbers(9, 256)}},
}

// numbers lists whole numbers, as the values of a set.
func numbers(from, to int) string {
	var out []string
	for n := from; n <= to; n++ {
		out = append(out, fmt.Sprint(n))
	}
	return strings.Join(out, ",")
}

// unrecorded is the epoch of results that name a version and no revision. The files of version 0.1.0 in
// notebooks/results are of epoch 3: those that its change touched were withdrawn and made anew, and the later revisions
// up to the first that is recorded give the same rows.
var unrecorded = map[string]int{"0.1.0": 3}

// verified are builds that did not record their revision, with a revision that gives the same rows. That of
// notebooks/results/neural was held against it by the regrets and digests of the first 8 runs of five agents there, all
// the same: an ensemble of 10 with 1000 actions over 5,000 periods, and the linear hypermodel, epsilon-greedy and an
// ensemble of 30 with 200 actions and one of 100 with 1000, over 1,000 periods, on the same kind of machine. The next
// is the build of that revision itself, which some of its headers name. That of notebooks/results/beyond/testbed-bandit
// is two builds: that of 123eeb0, as some headers say, and one that has the same rows as it of an epinet in the small
// bandit, ten runs of 10,000 periods. That of notebooks/results/beyond/testbed is the build of its revision.
var verified = map[string]string{
	"7a2cd82c7e18f4a940d0d9d6e5ad1349": "c449bc7",
	"9a50e4c207762874dbb8663df41dc4fb": "c449bc7",
	"32d5958a32522ee352deebc9b2aa6359": "123eeb0",
	"f68bb6e0fa0fbc34abc9a9cf5fa14f81": "7f1fada",
	"b16fa00936357f81a20baf8b1c9822d8": "0e3e988",
}

// Epoch counts the changes of results up to this revision.
func Epoch() int { return Changes[len(Changes)-1].Epoch }

// touches tells whether the change concerns one of the entries of an experiment.
func (c Change) touches(experiment string, entries []Entry) bool {
	return among(c.Experiments, experiment) && slices.ContainsFunc(entries, func(e Entry) bool {
		if !among(c.Agents, e.Agent) {
			return false
		}
		own := Values(e.Setting)
		return !slices.ContainsFunc(c.Sets, func(set string) bool {
			key, values, _ := strings.Cut(set, "=")
			v, ok := own[key]
			return !ok || !slices.Contains(strings.Split(values, ","), fmt.Sprint(v))
		})
	})
}

// among tells whether a list, which restricts nothing when it is empty, has the name.
func among(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }

// String is the change in a line.
func (c Change) String() string {
	text := fmt.Sprintf("epoch %d", c.Epoch)
	if c.Revision != "" {
		text += " (" + c.Revision + ")"
	}
	text += ": " + c.What
	only := slices.Concat(c.Experiments, c.Agents)
	for _, set := range c.Sets {
		if first, rest, long := strings.Cut(set, ",10,"); long { // a row of numbers
			set = first + " to " + rest[strings.LastIndex(rest, ",")+1:]
		}
		only = append(only, set)
	}
	if len(only) > 0 {
		text += "; of " + strings.Join(only, ", ")
	}
	return text
}
