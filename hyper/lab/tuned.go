package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/catalog"
)

// SearchResult is the result of a search for an agent, for settings in which other keys have certain values; both are
// "key=value" texts. A Spec that is given another value for one of its choices, such as another optimizer, uses the
// next result that applies, because a step size suits only one optimizer.
type SearchResult struct {
	Agent   string
	Periods int      // the fewest periods of a Spec that uses it: the best settings depend on the length of runs
	When    []string // conditions, which must all hold
	Sets    []string
}

// tuned returns the sets of the first element of x.Tuned that applies to a setting of an agent and a number of periods,
// and makes no other choice than the setting has for a given key. It returns nil if there is none.
func (x Experiment) tuned(agent string, s *Setting, periods int, given []string) []string {
	values := catalog.Values(s)
	var chosen []string
	for _, k := range catalog.Keys(s) {
		if len(k.Choices) > 0 && slices.Contains(given, k.Name) {
			chosen = append(chosen, k.Name)
		}
	}
	differs := func(set string) bool { return !hasValue(values, set) }
	otherChoice := func(set string) bool {
		key, _, _ := strings.Cut(set, "=")
		return slices.Contains(chosen, key) && differs(set)
	}
	for _, t := range x.Tuned {
		if t.Agent == agent && t.Periods <= periods && !slices.ContainsFunc(t.When, differs) &&
			!slices.ContainsFunc(t.Sets, otherChoice) {
			return t.Sets
		}
	}
	return nil
}

// hasValue reports whether values contain the key and value of a "key=value" text.
func hasValue(values map[string]any, set string) bool {
	key, _, _ := strings.Cut(set, "=")
	return fmt.Sprintf("%s=%v", key, values[key]) == set
}

// applyTuned gives a setting the values that a search found for it and for a number of periods, except for given keys.
func (x Experiment) applyTuned(agent string, s *Setting, periods int, given []string) error {
	keys, values, err := parseSets(x.tuned(agent, s, periods, given))
	if err != nil {
		return err
	}
	for _, k := range choicesFirst(s, keys) {
		if slices.Contains(given, k) {
			continue
		}
		if err := catalog.Set(s, k, values[k][0]); err != nil {
			return fmt.Errorf("the tuned settings of agent %s: %w", agent, err)
		}
	}
	return nil
}

// usual returns the keys of an entry that have their usual values. The usual value of a key is the result of a search,
// or the default if no search found one.
func (x Experiment) usual(e Entry, periods int) (keys []string) {
	defaults := map[string]any{}
	if s, err := x.newEntry(e.Agent, e.Kind); err == nil {
		defaults = catalog.Values(s)
	}
	all := catalog.KeyNames(e.Setting)
	_, tuned, _ := parseSets(x.tuned(e.Agent, e.Setting, periods, all))
	own := catalog.Values(e.Setting)
	for _, k := range all {
		found, ok := tuned[k]
		if ok && hasValue(own, k+"="+found[0]) || !ok && own[k] == defaults[k] {
			keys = append(keys, k)
		}
	}
	return keys
}

// markUsual records in the settings of a Spec which keys have usual values.
func (x Experiment) markUsual(s Spec) {
	for _, e := range s.Entries {
		e.Setting.usual = x.usual(e, s.Periods)
	}
}

// Usual returns the keys whose values are the defaults of the agent or the result of a search. [Experiment.Spec] and
// [ParseSpec] determine them.
func (s *Setting) Usual() []string { return s.usual }
