package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// Spec makes a Spec of the given agents, or of all agents if none is given. A set is "key=value" or "key=v1,v2,...":
// each agent runs with every combination of the values of the keys that it has. A key that is not given has the value of
// WithLearner, or else the values in size.Sets, or else in x.Sets, or else in x.Tuned. A key that no agent has is an
// error. The error joins all faults.
func (x Experiment) Spec(agents, sets []string, size Size, seed uint64) (Spec, error) {
	if len(agents) == 0 {
		agents = x.Order
	}
	spec := Spec{Experiment: x.Name, Periods: size.Periods, Runs: size.Runs, Seed: seed}
	given, keys, values, err := x.allSets(sets, size)
	asked := slices.Clone(given)
	errs, wrong := []error{err}, []agentFault(nil)
	for i, name := range agents {
		if slices.Contains(agents[:i], name) {
			errs = append(errs, fmt.Errorf("agent %s is named twice", name))
			continue
		}
		swept := slices.DeleteFunc(slices.Clone(keys), func(k string) bool {
			return slices.Contains(x.own[name].chosen, k) && !slices.Contains(asked, k)
		})
		entries, faults, err := x.sweep(name, swept, values)
		for _, e := range entries {
			errs = append(errs, x.applyTuned(name, e.Setting, size.Periods, keys))
		}
		errs, wrong = append(errs, err), append(wrong, faults...)
		spec.Entries = append(spec.Entries, entries...)
		given = slices.DeleteFunc(given, func(k string) bool {
			return slices.ContainsFunc(entries, func(e Entry) bool { return catalog.HasKey(e.Setting, k) })
		})
	}
	errs = append(errs, grouped(wrong)...)
	slices.Sort(given)
	if len(spec.Entries) > 0 { // otherwise every key would be unused
		for _, k := range given {
			errs = append(errs, x.unused(agents, k, spec.KeyNames()))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return Spec{}, errors.Join(err, errors.Join(spec.settingFaults()...))
	}
	x.markUsual(spec)
	return spec, spec.Validate()
}

// allSets reads the given sets, and adds the sets of the size and of the experiment for keys that are not given.
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

// unused returns an error: no agent has the key k, or k needs a choice, which the error names. keys are the keys that
// the agents have with the choices that were made.
func (x Experiment) unused(agents []string, k string, keys []string) error {
	for _, name := range agents {
		if s, err := x.New(name); err == nil {
			if err := catalog.NeedsChoice(s, k); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("no agent here has a key %q%s; the keys are %s", k, nearest.Hint(k, keys), strings.Join(keys, ", "))
}

// parseSets reads "key=value" and "key=v1,v2,..." texts. Each key must be set once, and each of its values listed once.
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
			for value := range strings.SplitSeq(text, ",") {
				values[key] = append(values[key], strings.TrimSpace(value))
			}
			errs = append(errs, eachOnce(key, values[key]))
		}
	}
	return keys, values, errors.Join(errs...)
}

// eachOnce returns an error if a value is listed twice, even if it is written in two ways, as 0.1 and 0.10.
func eachOnce(key string, values []string) error {
	for i, v := range values {
		for _, before := range values[:i] {
			if SameValue(before, v) {
				return fmt.Errorf("%s=%s: %s and %s are the same value; give it once", key, strings.Join(values, ","),
					before, v)
			}
		}
	}
	return nil
}

// sweep returns the settings of an agent for every combination of values, in the order of the keys; the last key varies
// fastest. It skips keys that the agent does not have. Keys of a choice count if the agent has the choice's value.
// wrong lists the values that cannot be set.
func (x Experiment) sweep(agent string, keys []string, values map[string][]string) (entries []Entry,
	wrong []agentFault, err error) {
	first, err := x.New(agent)
	if err != nil {
		return nil, nil, err
	}
	entries = []Entry{{Agent: agent, Setting: first, Kind: x.own[agent].kind}}
	for _, k := range choicesFirst(first, keys) {
		var next []Entry
		for _, e := range entries {
			if !catalog.HasKey(e.Setting, k) {
				next = append(next, e)
				continue
			}
			for i, v := range values[k] {
				s := e.Setting // the last value takes it, the others a copy
				if i+1 < len(values[k]) {
					if s, err = x.copied(agent, e.Setting); err != nil {
						return nil, nil, err
					}
				}
				wrong = append(wrong, agentFault{agent, catalog.Set(s, k, v)})
				next = append(next, Entry{Agent: agent, Setting: s, Kind: x.own[agent].kind})
			}
		}
		entries = next
	}
	return entries, wrong, nil
}

// choicesFirst moves keys that need a choice behind the other keys.
func choicesFirst(s *Setting, keys []string) []string {
	var choices, rest []string
	for _, k := range keys {
		if catalog.NeedsChoice(s, k) != nil {
			rest = append(rest, k)
		} else {
			choices = append(choices, k)
		}
	}
	return append(choices, rest...)
}

// copied returns a new setting of an agent with the values of s.
func (x Experiment) copied(agent string, s *Setting) (*Setting, error) {
	fresh, err := x.New(agent)
	if err != nil {
		return nil, err
	}
	return fresh, fresh.copyValues(s)
}

// copyValues gives a setting the values of another setting with the same keys.
func (s *Setting) copyValues(from *Setting) error {
	text, err := json.Marshal(catalog.Values(from))
	if err != nil {
		return err
	}
	return catalog.SetValues(s, text)
}

// SameValue reports whether two texts are the same value: equal texts or equal numbers.
func SameValue(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return a == b || errX == nil && errY == nil && x == y
}

// Set parses texts and assigns them to the keys of a setting. The order of the keys does not matter.
func (s *Setting) Set(values map[string]string) error {
	for _, key := range choicesFirst(s, slices.Sorted(maps.Keys(values))) {
		if err := catalog.Set(s, key, values[key]); err != nil {
			return err
		}
	}
	return nil
}
