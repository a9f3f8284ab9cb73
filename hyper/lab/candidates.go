package lab

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// candidate is a setting to try.
type candidate struct {
	values   map[string]string
	entry    Entry
	champion bool
}

// champion is the candidate of Champion, or nil.
func (t Tuning) champion(x Experiment) (*candidate, error) {
	if len(t.Champion) == 0 {
		return nil, nil
	}
	values := map[string]string{}
	for _, text := range t.Champion {
		key, value, _ := strings.Cut(text, "=")
		values[key] = value
	}
	c, err := t.candidate(x, values)
	if err != nil {
		return nil, fmt.Errorf("the champion %v: %w", t.Champion, err)
	}
	c.champion = true
	return &c, nil
}

// candidates are the settings to try, as entries of the experiment.
func (t Tuning) candidates(known map[string]Experiment) ([]candidate, error) {
	x, err := t.check(known)
	if err != nil {
		return nil, err
	}
	var out []candidate
	for _, values := range t.draw() {
		c, err := t.candidate(x, values)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// check returns the experiment, or what is wrong with the search.
func (t Tuning) check(known map[string]Experiment) (Experiment, error) {
	x, ok := known[t.Experiment]
	if !ok {
		return x, fmt.Errorf("unknown experiment %q%s", t.Experiment,
			nearest.Hint(t.Experiment, slices.Sorted(maps.Keys(known))))
	}
	if t.stages()[0].Candidates < 1 || len(t.Space) == 0 {
		return x, errors.New("a search needs at least one candidate and one key")
	}
	for i, s := range t.Plan {
		if i > 0 && (s.Candidates < 1 || s.Candidates > t.Plan[i-1].Candidates) {
			return x, fmt.Errorf("round %d of the search has %d candidates, and the one before %d: a round keeps the "+
				"best of the one before", i+1, s.Candidates, t.Plan[i-1].Candidates)
		}
	}
	if n := len(t.stages()); len(t.Champion) > 0 && (n < 2 || t.fresh(n-1) < 1) {
		return x, errors.New("a search with a champion needs two rounds or more, and two candidates or more in the last")
	}
	for i, d := range t.Space {
		before := slices.ContainsFunc(t.Space[:i], func(o Dimension) bool {
			return slices.ContainsFunc(o.Values, func(v string) bool { return d.When == o.Key+"="+v })
		})
		if d.When != "" && !before {
			return x, fmt.Errorf("key %q is searched over where %s, which no key before it can be", d.Key, d.When)
		}
		if slices.ContainsFunc(t.Space[:i], d.meets) {
			return x, fmt.Errorf("key %q is searched over twice: give it once, or for each value of another key, as "+
				"%s[OTHER=VALUE]=...", d.Key, d.Key)
		}
	}
	if t.Least && x.Target == nil {
		return x, fmt.Errorf("experiment %s says no regret to search the least computation for", t.Experiment)
	}
	for _, d := range t.Space {
		if slices.ContainsFunc(t.Sets, func(set string) bool { return strings.HasPrefix(set, d.Key+"=") }) {
			return x, fmt.Errorf("key %q is both fixed and searched over", d.Key)
		}
	}
	return x, nil
}

// draw draws a value of each key for each candidate. A range is cut into as many equal parts as there are candidates
// that have the key, and each part gives a value to one of them, in random order: so every key is covered evenly.
// Listed values go in turn.
func (t Tuning) draw() []map[string]string {
	random := rand.New(rand.NewPCG(t.Seed, 1))
	out := make([]map[string]string, t.stages()[0].Candidates)
	for i := range out {
		out[i] = map[string]string{}
	}
	for _, d := range t.Space {
		var of []map[string]string
		for _, values := range out {
			if d.concerns(values) {
				of = append(of, values)
			}
		}
		for i, at := range random.Perm(len(of)) {
			if len(d.Values) > 0 {
				of[i][d.Key] = d.Values[at%len(d.Values)]
				continue
			}
			of[i][d.Key] = d.draw((float64(at) + random.Float64()) / float64(len(of)))
		}
	}
	return out
}

// candidate makes an entry of values.
func (t Tuning) candidate(x Experiment, values map[string]string) (candidate, error) {
	stages := t.stages()
	x.Tuned = nil // a search does not begin with what one found
	spec, err := x.Spec([]string{t.Agent}, t.Sets, stages[len(stages)-1].Size, t.Seed)
	if err != nil {
		return candidate{}, err
	}
	if len(spec.Entries) != 1 {
		return candidate{}, fmt.Errorf("the settings %v leave %d agents to tune; fix their keys to one value each",
			t.Sets, len(spec.Entries))
	}
	c := candidate{values: values, entry: spec.Entries[0]}
	for _, key := range choicesFirst(c.entry.Setting, slices.Sorted(maps.Keys(values))) {
		if err := Set(c.entry.Setting, key, values[key]); err != nil {
			return c, err
		}
	}
	return c, c.entry.Setting.Validate()
}
