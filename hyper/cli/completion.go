package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// completeExperiments returns the names of experiments that are not arguments yet, for shells and cells.
func completeExperiments(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	left := slices.DeleteFunc(experiments(), func(name string) bool { return slices.Contains(args, name) })
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
	policies := func(lab.Experiment) []string { return catalog.Names(catalog.Policies()) }
	for _, flag := range []struct {
		name   string
		values func(lab.Experiment) []string
		listed bool                     // whether the flag has several values, separated by commas
		space  cobra.ShellCompDirective // whether a space follows the word
	}{
		{name: "agent", values: agentsOf, listed: true},
		{name: "set", values: f.completeKeys, space: cobra.ShellCompDirectiveNoSpace},
		{name: "policy", values: policies},
	} {
		complete := func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			var x lab.Experiment
			if len(args) > 0 {
				name, _ := experimentOf(args[0])
				x, _ = experiment(name)
			}
			before := ""
			if at := strings.LastIndex(word, ","); flag.listed && at >= 0 {
				before = word[:at+1]
			}
			var all []string
			for _, v := range flag.values(x) {
				all = append(all, before+v)
			}
			return all, flag.space | cobra.ShellCompDirectiveNoFileComp
		}
		_ = c.RegisterFlagCompletionFunc(flag.name, complete)
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
