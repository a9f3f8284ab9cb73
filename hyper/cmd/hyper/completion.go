package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/learners"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// completeExperiments completes the names of experiments, in shells and in cells.
func completeExperiments(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var left []string
	for _, name := range experiments() {
		if !slices.Contains(args, name) {
			left = append(left, name)
		}
	}
	return left, cobra.ShellCompDirectiveNoFileComp
}

// completeFirst is completeExperiments for commands that take one.
func completeFirst(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeExperiments(c, args, word)
}

// completes adds what the flags of a Spec take: agents, keys and policies of the experiment that is named.
func (f *specFlags) completes(c *cobra.Command) {
	for name, values := range map[string]func(lab.Experiment) []string{
		"agent":  func(x lab.Experiment) []string { return agentsOf(x) },
		"set":    f.keysOf,
		"policy": func(lab.Experiment) []string { return lab.Names(lab.Policies) },
	} {
		listed := name == "agent"
		complete := func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			var x lab.Experiment
			if len(args) > 0 {
				experiment, _ := table(args[0])
				x = paper.Known[experiment]
			}
			before := ""
			if at := strings.LastIndex(word, ","); listed && at >= 0 {
				before = word[:at+1]
			}
			var all []string
			for _, v := range values(x) {
				all = append(all, before+v)
			}
			directive := cobra.ShellCompDirectiveNoFileComp
			if name == "set" {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
			return all, directive
		}
		_ = c.RegisterFlagCompletionFunc(name, complete)
	}
}

// agentsOf are the agents of an experiment, and the learners that every one can run.
func agentsOf(x lab.Experiment) []string {
	all := slices.Concat(x.Order, slices.Sorted(maps.Keys(learners.Known)))
	slices.Sort(all)
	return slices.Compact(all)
}

// keysOf are the keys of the agents that are named, or of all of the experiment, each with "=".
func (f *specFlags) keysOf(x lab.Experiment) []string {
	agents := f.agents
	if len(agents) == 0 {
		agents = x.Order
	}
	all := map[string]bool{}
	for _, name := range agents {
		s, err := x.New(name)
		if err != nil {
			continue
		}
		for _, k := range lab.Keys(s) {
			all[k.Name+"="] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
