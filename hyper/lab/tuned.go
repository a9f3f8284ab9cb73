package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Tuned is what a search found for an agent where other keys have some values: "key=value" texts both. A Spec that is
// given another value for one of its choices, as another optimizer, has none of it: a step size is of an optimizer.
type Tuned struct {
	Agent   string
	Periods int      // the fewest periods of a Spec that it is for: the best settings depend on how long agents run
	When    []string // all of these hold
	Sets    []string
}

// tuned are the sets of x.Tuned that are for a setting of an agent and a number of periods: those of the first that
// holds.
func (x Experiment) tuned(agent string, s *Setting, periods int) []string {
	values := Values(s)
	for _, t := range x.Tuned {
		if t.Agent == agent && t.Periods <= periods && !slices.ContainsFunc(t.When, func(when string) bool { return !has(values, when) }) {
			return t.Sets
		}
	}
	return nil
}

// has reports whether values have that of a "key=value" text.
func has(values map[string]any, set string) bool {
	key, _, _ := strings.Cut(set, "=")
	return fmt.Sprintf("%s=%v", key, values[key]) == set
}

// settle gives a setting what a search found for it and a number of periods, but for keys that are given.
func (x Experiment) settle(agent string, s *Setting, periods int, given []string) error {
	keys, values, err := parseSets(x.tuned(agent, s, periods))
	if err != nil {
		return err
	}
	for _, f := range fields(s) {
		if v := values[f.Name]; f.Kind == kindChoice && v != nil && slices.Contains(given, f.Name) && f.get() != v[0] {
			return nil
		}
	}
	for _, k := range choicesFirst(s, keys) {
		if slices.Contains(given, k) {
			continue
		}
		if err := Set(s, k, values[k][0]); err != nil {
			return fmt.Errorf("agent %s, as tuned: %w", agent, err)
		}
	}
	return nil
}

// unusual are the keys of an entry whose values are neither what a search found nor, where it found none, the defaults.
func (x Experiment) unusual(e Entry, periods int) (keys []string) {
	usual := map[string]any{}
	if s, err := x.ofEntry(e.Agent, e.Kind); err == nil {
		usual = Values(s)
	}
	tuned, values, _ := parseSets(x.tuned(e.Agent, e.Setting, periods))
	own := Values(e.Setting)
	for _, k := range slices.Sorted(maps.Keys(own)) {
		if slices.Contains(tuned, k) && !has(own, k+"="+values[k][0]) || !slices.Contains(tuned, k) && own[k] != usual[k] {
			keys = append(keys, k)
		}
	}
	return keys
}

// recognize notes in the settings of a Spec which values are usual.
func (x Experiment) recognize(s Spec) {
	for _, e := range s.Entries {
		unusual := x.unusual(e, s.Periods)
		e.Setting.usual = slices.DeleteFunc(keyNames(e.Setting), func(k string) bool { return slices.Contains(unusual, k) })
	}
}
