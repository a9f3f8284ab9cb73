package lab

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// distinct joins errors and keeps only one of several equal faults.
func distinct(errs ...error) error {
	var all []error
	seen := map[string]bool{}
	for _, err := range errs {
		for _, fault := range split(err) {
			if !seen[fault.Error()] {
				seen[fault.Error()] = true
				all = append(all, fault)
			}
		}
	}
	return errors.Join(all...)
}

// split returns the single errors of a joined error.
func split(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, split(one)...)
	}
	return all
}

// agentFault is an error about an agent's settings, or nil for valid settings.
type agentFault struct {
	agent string
	err   error
}

// grouped returns each fault once, with the names of the agents that have it. The names are left out if there are several
// agents and all have the fault, such as a fault of the world.
func grouped(all []agentFault) (errs []error) {
	var order []string
	judged := map[string]bool{}
	first, agents := map[string]error{}, map[string][]string{}
	for _, f := range all {
		judged[f.agent] = true
		if f.err == nil {
			continue
		}
		text := f.err.Error()
		if first[text] == nil {
			first[text], order = f.err, append(order, text)
		}
		if !slices.Contains(agents[text], f.agent) {
			agents[text] = append(agents[text], f.agent)
		}
	}
	for _, text := range order {
		err := first[text]
		if n := len(agents[text]); n == 1 || n < len(judged) {
			err = fmt.Errorf("agent %s: %w", strings.Join(agents[text], ", "), err)
		}
		errs = append(errs, err)
	}
	return errs
}
