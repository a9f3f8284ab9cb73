package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/study"
	"github.com/hypermodels/hypermodels/hyper/train"
)

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list [EXPERIMENT...]",
		Short: "List experiments, with their agents, keys and claims, and what settings can name",
		Long: `list shows what hyper can run. For each experiment, or for each named one, it prints
  - its agents, which hyper run EXPERIMENT --agent AGENT runs,
  - the keys of each agent, which --set KEY=VALUE changes: name, kind of value, default value and meaning,
  - the claims that hyper check EXPERIMENT tests, with the runs and periods that each needs.
At the end it prints the learners that any experiment can run, the values of the keys that name something, such as
policy and optimizer, and the methods to compute the gradient.`,
		Example:           "  hyper list gaussian",
		ValidArgsFunction: completeExperiments,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = experiments()
			}
			var all []lab.Experiment
			for _, name := range args {
				x, err := experiment(name)
				if err != nil {
					return err
				}
				all = append(all, x)
			}
			for _, x := range all {
				if err := listExperiment(x); err != nil {
					return err
				}
				listClaims(x)
			}
			listLibrary()
			return nil
		},
	}
}

func listExperiment(x lab.Experiment) error {
	title := x.Title
	if x.Section != "" {
		title += " (" + study.SectionName(x.Section) + ")"
	}
	fmt.Printf("%s: %s\n", x.Name, title)
	fmt.Printf("  hyper run %s --quick runs %v of each agent; --full, as in the paper, runs %v\n", x.Name, x.Quick, x.Full)
	for _, name := range x.Order {
		fmt.Printf("\n  agent %s%s: key, kind, default, meaning\n", name, route(x, name))
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		setting, err := x.New(name)
		if err != nil {
			return err
		}
		keys := catalog.Keys(setting)
		slices.SortStableFunc(keys, func(a, b catalog.Key) int { return boolInt(b.PerRun) - boolInt(a.PerRun) })
		for _, k := range keys {
			kind := k.Kind
			if k.PerRun {
				kind += "*"
			}
			if len(k.Choices) > 0 {
				kind = strings.Join(k.Choices, "|")
			}
			fmt.Fprintf(w, "    %s\t%s\t%s\t%s\n", k.Name, kind, k.Default, k.Help)
		}
		_ = w.Flush()
	}
	fmt.Print("\n  *: a sweep over this key, as in --set KEY=V,V,V, compiles one program for all values\n\n")
	for i, t := range x.Tuned {
		if i == 0 {
			fmt.Println("  settings from searches, which replace the defaults of keys that are not given")
		}
		when := strings.Join(t.When, " ")
		if t.Periods > 0 {
			when += fmt.Sprintf(", from %d periods on", t.Periods)
		}
		fmt.Printf("    %s with %s: %s\n", t.Agent, when, strings.Join(t.Sets, " "))
	}
	return nil
}

// route returns the agent's default method to compute the gradient, or "" for an agent without a gradient.
func route(x lab.Experiment, agent string) string {
	s, err := x.New(agent)
	if err != nil {
		return ""
	}
	l, _, err := s.Handover(1)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (gradient by %s)", train.Trainer{Belief: l.Belief, Config: l.Train}.Route().Name)
}

// listClaims prints the claims of an experiment, and the runs and periods that each claim needs.
func listClaims(x lab.Experiment) {
	if len(claims[x.Name]) == 0 {
		return
	}
	fmt.Printf("  claims that hyper check %s tests\n", x.Name)
	for _, c := range claims[x.Name] {
		fmt.Printf("    %s: %s\n      needs %v: hyper check %s --claim %s\n      with --quick %v\n", c.Name, c.Text,
			c.Full, x.Name, c.Name, c.Quick)
	}
	fmt.Println()
}

// listLibrary prints the parts that are common to all experiments.
func listLibrary() {
	listEntries("learners that --agent can run in every experiment, in addition to its own agents", catalog.Learners())
	listEntries("policies: --policy NAME, or --set policy=NAME", catalog.Policies())
	listEntries("beliefs: --set belief=NAME", catalog.Beliefs())
	listEntries("losses: --set loss=NAME", catalog.Losses())
	listEntries("optimizers: --set optimizer=NAME", catalog.Optimizers())
	listEntries("schedules: --set schedule=NAME", catalog.Schedules())
	fmt.Println("methods to compute the gradient: training uses the first one that fits the belief, the loss and the key integrate")
	for _, r := range train.Routes() {
		fmt.Printf("  %-26s %s\n", r.Name, r.About)
	}
	fmt.Println()
}

// listEntries prints a list of the catalogue.
func listEntries[T any](title string, entries []catalog.Entry[T]) {
	fmt.Println(title)
	for _, e := range entries {
		fmt.Printf("  %-26s %s\n", e.Name, e.Doc)
	}
	fmt.Println()
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
