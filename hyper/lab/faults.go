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
	var add func([]error)
	add = func(errs []error) {
		for _, err := range errs {
			if joined, ok := err.(interface{ Unwrap() []error }); ok {
				add(joined.Unwrap())
			} else if err != nil && !seen[err.Error()] {
				seen[err.Error()] = true
				all = append(all, err)
			}
		}
	}
	add(errs)
	return errors.Join(all...)
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
