package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// completeExperiments completes names of experiments, in shells and in cells.
func completeExperiments(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var left []string
	for _, name := range experiments() {
		if !slices.Contains(args, name) {
			left = append(left, name)
		}
	}
	return left, cobra.ShellCompDirectiveNoFileComp
}

// completeFirst is like completeExperiments, for commands with a single argument.
func completeFirst(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeExperiments(c, args, word)
}

// completes registers completions for the flags of a Spec: agents, keys and policies of the named experiment.
func (f *specFlags) completes(c *cobra.Command) {
	for name, values := range map[string]func(lab.Experiment) []string{
		"agent":  func(x lab.Experiment) []string { return agentsOf(x) },
		"set":    f.completeKeys,
		"policy": func(lab.Experiment) []string { return catalog.Names(catalog.Policies()) },
	} {
		listed := name == "agent"
		complete := func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			var x lab.Experiment
			if len(args) > 0 {
				name, _ := experimentOf(args[0])
				x, _ = experiment(name)
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

// agentsOf returns the agents of an experiment, and the learners that every experiment can run.
func agentsOf(x lab.Experiment) []string {
	all := slices.Concat(x.Order, catalog.Names(catalog.Learners()))
	slices.Sort(all)
	return slices.Compact(all)
}

// completeKeys returns the keys of the named agents, or of all agents of the experiment, each followed by "=".
func (f *specFlags) completeKeys(x lab.Experiment) []string {
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
		for _, k := range catalog.Keys(s) {
			all[k.Name+"="] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
