package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// Spec makes a Spec of the given agents (none: all) with settings "key=value" or "key=v1,v2,...": each agent runs with
// every combination of the values of the keys it has. Keys of size.Sets, and then of x.Sets, that are not given have
// the values given there, and keys that have none there what x.Tuned has. A key that no agent has is an error, and so
// is every other fault; the error joins them.
func (x Experiment) Spec(agents, sets []string, size Size, seed uint64) (Spec, error) {
	if len(agents) == 0 {
		agents = x.Order
	}
	spec := Spec{Experiment: x.Name, Periods: size.Periods, Runs: size.Runs, Seed: seed}
	given, keys, values, err := x.allSets(sets, size)
	errs, wrong := []error{err}, []agentFault(nil)
	for i, name := range agents {
		if slices.Contains(agents[:i], name) {
			errs = append(errs, fmt.Errorf("agent %s is named twice", name))
			continue
		}
		entries, faults, err := x.sweep(name, keys, values)
		for _, e := range entries {
			errs = append(errs, x.settle(name, e.Setting, size.Periods, keys))
		}
		errs, wrong = append(errs, err), append(wrong, faults...)
		spec.Entries = append(spec.Entries, entries...)
		given = slices.DeleteFunc(given, func(k string) bool {
			return slices.ContainsFunc(entries, func(e Entry) bool { return HasKey(e.Setting, k) })
		})
	}
	errs = append(errs, grouped(wrong)...)
	slices.Sort(given)
	for _, k := range given {
		errs = append(errs, x.unused(agents, k))
	}
	if err := errors.Join(errs...); err != nil {
		return Spec{}, errors.Join(err, errors.Join(spec.settingFaults()...))
	}
	x.recognize(spec)
	return spec, spec.Validate()
}

// allSets reads the sets that are given, and adds those of the size and the experiment whose keys are not.
func (x Experiment) allSets(sets []string, size Size) (given, keys []string, values map[string][]string, err error) {
	given, values, err = parseSets(sets)
	keys = slices.Clone(given)
	for _, sets := range [][]string{size.Sets, x.Sets} {
		own, defaults, fault := parseSets(sets)
		err = errors.Join(err, fault)
		for _, k := range slices.Backward(own) {
			if _, known := values[k]; !known {
				keys, values[k] = append([]string{k}, keys...), defaults[k]
			}
		}
	}
	return given, keys, values, err
}

// unused says that no agent has a key, or which choice would have it.
func (x Experiment) unused(agents []string, k string) error {
	for _, name := range agents {
		if s, err := x.New(name); err == nil {
			if err := needsChoice(s, k); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("no agent here has a key %q%s; the keys are %s", k, nearest.Hint(k, x.keys(agents)),
		strings.Join(x.keys(agents), ", "))
}

// parseSets reads "key=value" and "key=v1,v2,..." texts. A key is set once, and has each value once.
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
			errs = append(errs, eachOnce(key, values[key]))
		}
	}
	return keys, values, errors.Join(errs...)
}

// eachOnce reports a value that is listed twice, also when it is written in another way, as 0.1 and 0.10.
func eachOnce(key string, values []string) error {
	for i, v := range values {
		for _, before := range values[:i] {
			if compareValues(before, v) == 0 {
				return fmt.Errorf("%s=%s: %s and %s are the same value; give it once", key, strings.Join(values, ","),
					before, v)
			}
		}
	}
	return nil
}

// sweep returns the settings of an agent for every combination of values, in the order of the keys, the last key
// running fastest. Keys the agent does not have are skipped; with the values of choices it has those of the choices.
// wrong are values that cannot be set.
func (x Experiment) sweep(agent string, keys []string, values map[string][]string) (entries []Entry,
	wrong []agentFault, err error) {
	first, err := x.New(agent)
	if err != nil {
		return nil, nil, err
	}
	entries = []Entry{{Agent: agent, Setting: first, Kind: x.kinds[agent]}}
	for _, k := range choicesFirst(first, keys) {
		var next []Entry
		for _, e := range entries {
			if !HasKey(e.Setting, k) {
				next = append(next, e)
				continue
			}
			for _, v := range values[k] {
				s, err := x.copied(agent, e.Setting)
				if err != nil {
					return nil, nil, err
				}
				wrong = append(wrong, agentFault{agent, Set(s, k, v)})
				next = append(next, Entry{Agent: agent, Setting: s, Kind: x.kinds[agent]})
			}
		}
		entries = next
	}
	return entries, wrong, nil
}

// choicesFirst puts keys that others depend on before these.
func choicesFirst(s *Setting, keys []string) []string {
	var choices, rest []string
	for _, k := range keys {
		if needsChoice(s, k) != nil {
			rest = append(rest, k)
		} else {
			choices = append(choices, k)
		}
	}
	return append(choices, rest...)
}

func (x Experiment) copied(agent string, s *Setting) (*Setting, error) {
	fresh, err := x.New(agent)
	if err != nil {
		return nil, err
	}
	return fresh, fresh.take(s)
}

// take gives a setting the values of another with the same keys.
func (s *Setting) take(from *Setting) error {
	text, err := json.Marshal(Values(from))
	if err != nil {
		return err
	}
	return SetValues(s, text)
}

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
