package lab

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/catalog"
)

// Change is a commit that changed results: some entries give other rows, on the same seeds and the same machine.
type Change struct {
	Epoch    int    // results since the commit have this epoch
	Revision string // the commit, or "" for the commit that adds this line
	What     string // the change in a few words; they end a sentence
	// Experiments, Agents and Sets limit the change: it concerns entries of these experiments and agents whose settings
	// have one of the listed values. An empty list limits nothing.
	Experiments []string
	Agents      []string
	Sets        []string // "key=v1,v2"
}

// Changes lists all commits that changed existing results, from the oldest to the newest. The number of the last one is
// the epoch of the present code. A commit that changes results must add a line here, with the next number, and must
// record the golden digests again (see TestGolden in package paper). Digests are recorded on CPUs only: a commit that
// changes nothing but the rounding on a GPU has no line.
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
	{Epoch: 6, Revision: "5f06f90",
		What:        "the hypermodel of the Neural Testbed starts as in the library enn since May 2022",
		Experiments: []string{"testbed-bandit"}, Agents: []string{"hypermodel"}},
	{Epoch: 7, Revision: "b0c54ad",
		What:        "XLA for CPUs has a thread for each processor and not at least four: other rounding in large products",
		Experiments: []string{"ids"}, Sets: []string{"size=" + numbers(51, 1000)}},
	{Epoch: 8, Revision: "863a2e4c",
		What: "with the logistic loss, policies that average functions compare probabilities and not log-odds",
		Sets: []string{"loss=logistic", "policy=ids,greedy,egreedy,squarecb"}},
}

// numbers lists the whole numbers from one to another, separated by commas, as [Change].Sets needs them.
func numbers(from, to int) string {
	var out []string
	for n := from; n <= to; n++ {
		out = append(out, fmt.Sprint(n))
	}
	return strings.Join(out, ",")
}

// unrecorded maps a version to the epoch of results that name this version but no revision. The files of version 0.1.0
// in notebooks/results have epoch 3: files that the change of epoch 3 affected were withdrawn and computed again. All
// later revisions, up to the first one that is recorded, give the same rows.
var unrecorded = map[string]int{"0.1.0": 3}

// verified maps a build that did not record its revision to a revision that gives the same rows. Folders are in
// notebooks/results.
var verified = map[string]string{
	// Made neural. The regrets and digests of the first 8 runs of five agents are equal to those of the revision, on the
	// same kind of machine: an ensemble of 10 with 1000 actions over 5,000 periods; and the linear hypermodel,
	// epsilon-greedy and an ensemble of 30 with 200 actions, and an ensemble of 100 with 1000 actions, over 1,000
	// periods.
	"7a2cd82c7e18f4a940d0d9d6e5ad1349": "c449bc7",
	// Made neural, too. It is the build of the revision, as some headers say.
	"9a50e4c207762874dbb8663df41dc4fb": "c449bc7",
	// Made beyond/testbed-bandit. It is the build of the revision, as some headers say.
	"32d5958a32522ee352deebc9b2aa6359": "123eeb0",
	// Made beyond/testbed-bandit, too. The rows of an epinet in the small bandit are equal (ten runs of 10,000 periods).
	"f68bb6e0fa0fbc34abc9a9cf5fa14f81": "7f1fada",
	// Made beyond/testbed. It is the build of the revision.
	"b16fa00936357f81a20baf8b1c9822d8": "0e3e988",
	// Made neural/like-for-like-1000. The regrets and digests of the first 8 runs over 1,000 periods of epsilon-greedy, an
	// ensemble of 10 and independent arms are equal, on the same kind of machine.
	"e90b78f85df768590fcdfebe4341c184": "03d0546",
	// Made neural/similar-200 and neural/fourth-1000. It is the build of the revision, as some headers say.
	"c70bbe11b04a6de2b4d51fdd5b6fbb6b": "ad91965",
	// Made neural/similar-200, too. It is the build of the revision, as one header says.
	"518667e08bdbbde857953edaed78403d": "0e95e75",
}

// epoch returns the number of the last change of results up to this revision.
func epoch() int { return Changes[len(Changes)-1].Epoch }

// affects reports whether the change concerns one of the entries of an experiment.
func (c Change) affects(experiment string, entries []Entry) bool {
	return permits(c.Experiments, experiment) && slices.ContainsFunc(entries, func(e Entry) bool {
		if !permits(c.Agents, e.Agent) {
			return false
		}
		own := catalog.Values(e.Setting)
		return !slices.ContainsFunc(c.Sets, func(set string) bool {
			key, values, _ := strings.Cut(set, "=")
			v, ok := own[key]
			return !ok || !slices.Contains(strings.Split(values, ","), fmt.Sprint(v))
		})
	})
}

// permits reports whether a list has the name. An empty list restricts nothing: permits then returns true.
func permits(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }

// String describes the change in one line.
func (c Change) String() string {
	text := fmt.Sprintf("epoch %d", c.Epoch)
	if c.Revision != "" {
		text += " (" + c.Revision + ")"
	}
	text += ": " + c.What
	only := slices.Concat(c.Experiments, c.Agents)
	for _, set := range c.Sets {
		only = append(only, abbreviated(set))
	}
	if len(only) > 0 {
		text += "; concerns only " + strings.Join(only, ", ")
	}
	return text
}

// abbreviated returns a set whose values are successive whole numbers, as numbers lists them, as "key=from to to", and
// other sets as they are.
func abbreviated(set string) string {
	key, values, _ := strings.Cut(set, "=")
	from, _, _ := strings.Cut(values, ",")
	to := values[strings.LastIndex(values, ",")+1:]
	first, err1 := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || first == last || values != numbers(first, last) {
		return set
	}
	return fmt.Sprintf("%s=%d to %d", key, first, last)
}
