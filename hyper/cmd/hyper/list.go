package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/learners"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// hypermodels lists the hypermodels of package hyper.
var hypermodels = [][2]string{
	{"hyper.Ensemble", "g_nu(z) = nu z with one-hot z (section 2.2)"},
	{"hyper.Linear", "g_nu(z) = mu + C z; layouts: Dense, PerParameter (diagonal, or a block per arm), PerGroup (a " +
		"block per layer) (section 2.3)"},
	{"hyper.Network", "g_nu(z) is an MLP: a hypernetwork (section 2.4)"},
	{"hyper.OneSparse", "g_nu(z) = softmax(beta nu (z^2 + alpha)), nearly one-hot functions (section 5)"},
	{"hyper.MeanField", "g_nu(z) = mu + softplus(rho) z, a deviation for each parameter: Bayes by Backprop"},
	{"hyper.Dropout", "g_nu(z) is nu with masked weights: dropout (appendix E)"},
	{"hyper.EnsemblePlusPlus",
		"theta = mu + A z, a Linear that starts as its prior, trained exactly: Ensemble++ of linear functions"},
	{"hyper.Prior", "additive prior f~_{DBz}, with any of them (section 2.5), or DBz added to the parameters " +
		"(appendix D)"},
}

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list [EXPERIMENT...]",
		Short: "List experiments, with their agents, keys and claims, and the hypermodels",
		Long: `list shows what hyper can run. For each experiment, or for each named one, it prints
  - its agents, which hyper run EXPERIMENT --agent AGENT runs,
  - the keys of each agent, which --set KEY=VALUE changes: name, kind of value, default value and meaning,
  - the claims that hyper check EXPERIMENT tests, with the runs and periods that each needs.
At the end it prints the hypermodels of the Go package hyper, the learners that any experiment can run, and the methods
to compute the gradient.`,
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
		title += " (" + sectionName(x.Section) + ")"
	}
	fmt.Printf("%s: %s\n", x.Name, title)
	fmt.Printf("  hyper run %s --quick runs %v of each agent; --full, as in the paper, runs %v\n", x.Name, x.Quick, x.Full)
	for _, name := range x.Order {
		fmt.Printf("\n  agent %s%s: key, kind, default, meaning\n", name, way(x, name))
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		setting, err := x.New(name)
		if err != nil {
			return err
		}
		keys := lab.Keys(setting)
		slices.SortStableFunc(keys, func(a, b lab.Key) int { return boolInt(b.PerRun) - boolInt(a.PerRun) })
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

// way returns the agent's default method to compute the gradient, or "" for an agent without a gradient.
func way(x lab.Experiment, agent string) string {
	s, err := x.New(agent)
	if err != nil {
		return ""
	}
	l, _, err := s.Handover(1)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (gradient by %s)", train.Trainer{Belief: l.Belief, Config: l.Train}.Way().Name)
}

// listClaims prints the claims of an experiment, and the runs and periods that each claim needs.
func listClaims(x lab.Experiment) {
	if len(paper.Claims[x.Name]) == 0 {
		return
	}
	fmt.Printf("  claims that hyper check %s tests\n", x.Name)
	for _, c := range paper.Claims[x.Name] {
		fmt.Printf("    %s: %s\n      needs %v: hyper check %s --claim %s\n      with --quick %v\n", c.Name, c.Text,
			c.Full, x.Name, c.Name, c.Quick)
	}
	fmt.Println()
}

// listLibrary prints the parts that are common to all experiments.
func listLibrary() {
	fmt.Println("hypermodels of the Go package hyper")
	for _, h := range hypermodels {
		fmt.Printf("  %-22s %s\n", h[0], h[1])
	}
	fmt.Println("\nlearners that --agent can run in every experiment, in addition to its own agents")
	fmt.Println("  " + strings.Join(slices.Sorted(maps.Keys(learners.Known)), ", "))
	fmt.Println("\nmethods to compute the gradient: training uses the first one that fits the belief, the loss and the key integrate")
	for _, w := range train.Ways {
		fmt.Printf("  %-26s %s\n", w.Name, w.About)
	}
	fmt.Println()
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
