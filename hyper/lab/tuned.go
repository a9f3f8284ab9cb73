package lab

import (
	"fmt"
	"slices"
	"strings"
)

// Tuned is what a search found for an agent where other keys have some values: "key=value" texts both. A Spec that is
// given another value for one of its choices, as another optimizer, has none of it: a step size is of an optimizer.
type Tuned struct {
	Agent string
	When  []string // all of these hold
	Sets  []string
}

// tuned are the sets of x.Tuned that are for a setting of an agent: those of the first that holds.
func (x Experiment) tuned(agent string, s *Setting) []string {
	values := Values(s)
	for _, t := range x.Tuned {
		if t.Agent == agent && !slices.ContainsFunc(t.When, func(when string) bool { return !has(values, when) }) {
			return t.Sets
		}
	}
	return nil
}

// has tells whether values have that of a "key=value" text.
func has(values map[string]any, set string) bool {
	key, _, _ := strings.Cut(set, "=")
	return fmt.Sprintf("%s=%v", key, values[key]) == set
}

// settle gives a setting what a search found for it, but for keys that are given.
func (x Experiment) settle(agent string, s *Setting, given []string) error {
	keys, values, err := parseSets(x.tuned(agent, s))
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
		s.found = append(s.found, k)
	}
	return nil
}

// recognize notes which values of a setting that was read are those that a search found.
func (x Experiment) recognize(agent string, s *Setting) {
	values := Values(s)
	for _, set := range x.tuned(agent, s) {
		if has(values, set) {
			key, _, _ := strings.Cut(set, "=")
			s.found = append(s.found, key)
		}
	}
}
