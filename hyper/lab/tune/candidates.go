package tune

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// candidate is a setting that a search tries.
type candidate struct {
	values   map[string]string
	entry    lab.Entry
	champion bool
}

// champion returns the candidate that Champion describes, or nil if the search has no champion.
func (t Search) champion(x lab.Experiment) (*candidate, error) {
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

// candidates returns the experiment of the search, and the settings to try, as entries of the experiment.
func (t Search) candidates(known map[string]lab.Experiment) (x lab.Experiment, all []candidate, err error) {
	if x, err = t.check(known); err != nil {
		return x, nil, err
	}
	for _, values := range t.draw() {
		c, err := t.candidate(x, values)
		if err != nil {
			return x, nil, err
		}
		all = append(all, c)
	}
	return x, all, nil
}

// check returns the experiment of the search, or an error that says what is wrong with the search.
func (t Search) check(known map[string]lab.Experiment) (lab.Experiment, error) {
	x, err := t.experiment(known)
	if err != nil {
		return x, err
	}
	if t.stages()[0].Candidates < 1 || len(t.Space) == 0 {
		return x, errors.New("a search needs at least one candidate and one key")
	}
	for i, s := range t.Plan {
		if s.Size.Runs < 1 || s.Size.Periods < 1 {
			return x, fmt.Errorf("round %d of the search has %d runs of %d periods: both must be at least 1", i+1, s.Size.Runs,
				s.Size.Periods)
		}
		if i > 0 && (s.Candidates < 1 || s.Candidates > t.Plan[i-1].Candidates) {
			return x, fmt.Errorf("round %d of the search has %d candidates, but round %d has %d: a round keeps the "+
				"best candidates of the round before", i+1, s.Candidates, i, t.Plan[i-1].Candidates)
		}
	}
	if n := len(t.stages()); len(t.Champion) > 0 && (n < 2 || t.fresh(n-1) < 1) {
		return x, errors.New("a search with a champion needs at least two rounds, and at least two candidates in " +
			"the last round")
	}
	for i, d := range t.Space {
		before := slices.ContainsFunc(t.Space[:i], func(o Dimension) bool {
			return slices.ContainsFunc(o.Values, func(v string) bool { return d.When == o.Key+"="+v })
		})
		if d.When != "" && !before {
			return x, fmt.Errorf("key %q depends on %s, but no key before it in the search can have that "+
				"value", d.Key, d.When)
		}
		if slices.ContainsFunc(t.Space[:i], d.meets) {
			return x, fmt.Errorf("key %q is searched over twice: give it once, or once for each value of another "+
				"key, as %s[OTHER=VALUE]=...", d.Key, d.Key)
		}
	}
	single := !slices.ContainsFunc(t.Space, func(d Dimension) bool { return len(d.Values) != 1 })
	if single && len(t.Champion) == 0 {
		return x, errors.New("the search has one setting: give a range, KEY=LOW:HIGH, or several values, KEY=V,V,...")
	}
	if t.Least && x.Target == nil {
		return x, fmt.Errorf("experiment %s defines no target regret; --least needs one", t.Experiment)
	}
	for _, d := range t.Space {
		if slices.ContainsFunc(t.Sets, func(set string) bool { return strings.HasPrefix(set, d.Key+"=") }) {
			return x, fmt.Errorf("key %q has a fixed value and is also in the search; remove one of the two", d.Key)
		}
	}
	return x, nil
}

// draw draws a value of each key for each candidate. It cuts a range into equal parts, one for each candidate that has
// the key, and draws one value from each part, in random order. The values therefore cover the range evenly. Listed
// values are used in turn.
func (t Search) draw() []map[string]string {
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

// candidate returns the candidate with the given values.
func (t Search) candidate(x lab.Experiment, values map[string]string) (candidate, error) {
	stages := t.stages()
	x.Tuned = nil // a search starts from the defaults, not from the result of an earlier search
	// A key that is searched needs none of the experiment's values.
	x.Sets = slices.DeleteFunc(slices.Clone(x.Sets), func(set string) bool {
		key, _, _ := strings.Cut(set, "=")
		_, searched := values[key]
		return searched
	})
	spec, err := x.Spec([]string{t.Agent}, t.Sets, stages[len(stages)-1].Size, t.Seed)
	if err != nil {
		return candidate{}, err
	}
	if len(spec.Entries) != 1 {
		return candidate{}, fmt.Errorf("the values of %s describe %d agents, but a search tunes one: give one value by "+
			"--set, or search among values by --space", strings.Join(spec.DifferingKeys(), " and "), len(spec.Entries))
	}
	c := candidate{values: values, entry: spec.Entries[0]}
	if err := c.entry.Setting.Set(values); err != nil {
		return c, cmp.Or(t.fraction(c.entry.Setting, values), err)
	}
	return c, c.entry.Setting.Validate()
}

// fraction returns an error if a range has fractions for a key that is a whole number.
func (t Search) fraction(s *lab.Setting, values map[string]string) error {
	for _, k := range catalog.Keys(s) {
		for _, d := range t.Space {
			_, err := strconv.Atoi(values[d.Key])
			if err != nil && d.Key == k.Name && k.Kind == "int" && len(d.Values) == 0 && d.concerns(values) {
				return fmt.Errorf("%s: want a whole number, but a range has fractions: give a list, %s=%s", d, d.Key,
					strings.Join(d.whole(), ","))
			}
		}
	}
	return nil
}
