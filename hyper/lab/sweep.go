package lab

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// Spec makes a Spec of the given agents (none: all) with settings "key=value" or "key=v1,v2,...": each agent runs with
// every combination of the values of the keys it has. Keys of size.Sets, and then of x.Sets, that are not given have the values given there.
// A key that none of the agents has is an error, and so is every other fault; the error joins them.
func (x Experiment) Spec(agents, sets []string, size Size, seed uint64) (Spec, error) {
	if len(agents) == 0 {
		agents = x.Order
	}
	spec := Spec{Experiment: x.Name, Periods: size.Periods, Runs: size.Runs, Seed: seed}
	keys, values, err := parseSets(sets)
	errs := []error{err}
	unused := map[string]bool{}
	for _, k := range keys {
		unused[k] = true
	}
	for _, sets := range [][]string{size.Sets, x.Sets} {
		own, defaults, err := parseSets(sets)
		errs = append(errs, err)
		for _, k := range slices.Backward(own) {
			if _, given := values[k]; !given {
				keys, values[k] = append([]string{k}, keys...), defaults[k]
			}
		}
	}
	for i, name := range agents {
		if slices.Contains(agents[:i], name) {
			errs = append(errs, fmt.Errorf("agent %s is named twice", name))
			continue
		}
		s, err := x.New(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		maps.DeleteFunc(unused, func(k string, _ bool) bool { return HasKey(s, k) })
		entries, err := x.sweep(name, keys, values)
		errs = append(errs, err)
		spec.Entries = append(spec.Entries, entries...)
	}
	for _, k := range slices.Sorted(maps.Keys(unused)) {
		errs = append(errs, fmt.Errorf("no agent here has a key %q%s; the keys are %s", k,
			nearest.Hint(k, x.keys(agents)), strings.Join(x.keys(agents), ", ")))
	}
	if err := errors.Join(errs...); err != nil {
		return Spec{}, err
	}
	return spec, spec.Validate()
}

// parseSets reads "key=v1,v2" texts.
func parseSets(sets []string) (keys []string, values map[string][]string, err error) {
	var errs []error
	values = map[string][]string{}
	for _, set := range sets {
		key, text, ok := strings.Cut(set, "=")
		switch _, twice := values[key]; {
		case !ok || key == "" || text == "":
			errs = append(errs, fmt.Errorf("%q is not of the form key=value or key=v1,v2", set))
		case twice:
			errs = append(errs, fmt.Errorf("key %q is set twice; give its values as %s=v1,v2", key, key))
		default:
			keys = append(keys, key)
			values[key] = strings.Split(text, ",")
		}
	}
	return keys, values, errors.Join(errs...)
}

// sweep returns the settings of an agent for every combination of values, in the order of the keys, the last key running
// fastest. Keys the agent does not have are skipped.
func (x Experiment) sweep(agent string, keys []string, values map[string][]string) ([]Entry, error) {
	combinations := [][]string{nil} // values of the keys the agent has, in order
	var own []string
	probe, err := x.New(agent)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if !HasKey(probe, k) {
			continue
		}
		own = append(own, k)
		var next [][]string
		for _, c := range combinations {
			for _, v := range values[k] {
				next = append(next, append(slices.Clone(c), v))
			}
		}
		combinations = next
	}
	var entries []Entry
	for _, c := range combinations {
		s, _ := x.New(agent)
		for i, k := range own {
			if err := Set(s, k, c[i]); err != nil {
				return nil, fmt.Errorf("agent %s: %w", agent, err)
			}
		}
		entries = append(entries, Entry{agent, s})
	}
	return entries, nil
}

// keys lists the keys of some agents.
func (x Experiment) keys(agents []string) []string {
	var all []string
	for _, name := range agents {
		if s, err := x.New(name); err == nil {
			all = append(all, keyNames(s)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
