package main

import (
	"fmt"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// hypermodels are the ones that package hyper has, for the listing.
var hypermodels = [][2]string{
	{"hyper.Ensemble", "g_nu(z) = nu z with one-hot z (section 2.2)"},
	{"hyper.Linear", "g_nu(z) = mu + C z; layouts: Dense, PerParameter (diagonal, or a block per arm), PerGroup (a block per layer) (section 2.3)"},
	{"hyper.Network", "g_nu(z) is an MLP: a hypernetwork (section 2.4)"},
	{"hyper.OneSparse", "g_nu(z) = softmax(beta nu (z^2 + alpha)), nearly one-hot functions (section 5)"},
	{"hyper.MeanField", "g_nu(z) = mu + softplus(rho) z, a deviation for each parameter: Bayes by Backprop (appendix D)"},
	{"hyper.Dropout", "g_nu(z) is nu with masked weights: dropout (appendix E)"},
	{"hyper.Prior", "additive prior f~_{DBz}, with any of them (section 2.5), or DBz added to the parameters (appendix D)"},
}

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list [EXPERIMENT...]",
		Short: "List experiments, agents and hypermodels with their keys, defaults and meaning",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = paper.Order
			}
			for _, name := range args {
				x, err := experiment(name)
				if err != nil {
					return err
				}
				listExperiment(x)
			}
			fmt.Println("hypermodels (package hyper)")
			for _, h := range hypermodels {
				fmt.Printf("  %-16s %s\n", h[0], h[1])
			}
			return nil
		},
	}
}

func listExperiment(x lab.Experiment) {
	fmt.Printf("%s: %s (section %s)\n", x.Name, x.Title, x.Section)
	fmt.Printf("  quick %v, full %v\n", x.Quick, x.Full)
	for _, name := range x.Order {
		fmt.Printf("\n  agent %s\n", name)
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		keys := lab.Keys(x.Agents[name]())
		slices.SortStableFunc(keys, func(a, b lab.Key) int { return boolInt(b.PerRun) - boolInt(a.PerRun) })
		for _, k := range keys {
			kind := k.Kind
			if k.PerRun {
				kind += "*"
			}
			fmt.Fprintf(w, "    %s\t%s\t%s\t%s\n", k.Name, kind, k.Default, k.Help)
		}
		_ = w.Flush()
	}
	fmt.Print("\n  *: may differ between runs of one compiled program, so that a sweep over it compiles once\n\n")
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
