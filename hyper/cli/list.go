package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/study"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// parts is the argument of hyper list that lists the parts that all experiments share.
const parts = "parts"

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list [EXPERIMENT...|" + parts + "]",
		Short: "List experiments, with their agents, keys and claims, and the parts that all experiments share",
		Long: `list prints a line for each experiment. For a named experiment it prints
  - its agents, which hyper run EXPERIMENT --agent AGENT runs,
  - the keys of the agents, which --set KEY=VALUE changes: kind of value,
    default value and meaning,
  - the claims that hyper check EXPERIMENT tests, with the runs and periods that
    each needs.
list parts prints the learners that any experiment can run, the values of keys
such as policy and optimizer, and the methods to compute the gradient.`,
		Example: "  hyper list\n  hyper list gaussian\n  hyper list parts",
		ValidArgsFunction: func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			names, how := completeExperiments(c, args, word)
			if !slices.Contains(args, parts) {
				names = append(names, parts)
			}
			return names, how
		},
		RunE: func(c *cobra.Command, args []string) error {
			w := c.OutOrStdout()
			if err := checkKnown("experiment", append(experiments(), parts), args...); err != nil {
				return err
			}
			if len(args) == 0 {
				return listExperiments(w)
			}
			for _, name := range args {
				if name == parts {
					listParts(w)
				} else if x, err := experiment(name); err != nil {
					return err
				} else if err := listExperiment(w, x); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// listExperiments prints a line for each experiment.
func listExperiments(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "experiment\tsection\tagents\twhat it is")
	for _, name := range experiments() {
		x, err := experiment(name)
		if err != nil {
			return err
		}
		agents := strings.Join(x.Order[:min(3, len(x.Order))], ", ")
		if more := len(x.Order) - 3; more > 0 {
			agents += fmt.Sprintf(", %d more", more)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", x.Name, x.Section, agents, x.Title)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nhyper list EXPERIMENT prints the experiment's agents, keys and claims. hyper list parts "+
		"prints\nlearners, policies, beliefs, losses, optimizers and schedules, which all experiments share.")
	return nil
}

// listExperiment prints the agents, keys, settings and claims of an experiment.
func listExperiment(w io.Writer, x lab.Experiment) error {
	title := x.Title
	if x.Section != "" {
		title += " (" + study.SectionName(x.Section) + ")"
	}
	fmt.Fprintf(w, "%s: %s\n", x.Name, title)
	full := "--full"
	if _, ok := paper.Known[x.Name]; ok {
		full += ", as in the paper"
	}
	fmt.Fprintf(w, "  hyper run %s --quick: %v of each agent; %s: %v\n", x.Name, x.Quick, full, x.Full)
	if len(x.Sets) > 0 {
		fmt.Fprintf(w, "  this experiment's defaults, where these differ from the table's: %s\n", strings.Join(x.Sets, " "))
	}
	fmt.Fprintln(w)
	keys, err := keysOf(x)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "  agents, with their defaults where these differ from the table's")
	for _, name := range x.Order {
		fmt.Fprintf(w, "    %s%s%s\n", name, route(x, name), ownDefaults(name, keys))
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\n  key of --set\tkind\tdefault\tmeaning")
	for i, k := range keys {
		if i == 0 || k.owners() != keys[i-1].owners() {
			fmt.Fprintf(table, "  %s\t\t\t\n", k.owners())
		}
		kind := k.Kind
		if k.PerRun {
			kind += "*"
		}
		if len(k.Choices) > 0 {
			kind = strings.Join(k.Choices, "|")
		}
		fmt.Fprintf(table, "    %s\t%s\t%s\t%s\n", k.Name, kind, k.defaults[0], k.Help)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprint(w, "\n  *: a sweep over this key, as in --set KEY=V,V,V, compiles one program for all values\n")
	if len(x.Tuned) > 0 {
		fmt.Fprintln(w, "\n  settings that searches found: they replace the defaults of keys that you do not set. An "+
			"agent uses the first\n  of its lines that applies and does not contradict your choices, such as a policy")
	}
	for _, t := range x.Tuned {
		if len(t.Sets) == 0 || !slices.Contains(x.Order, t.Agent) {
			continue
		}
		when := strings.Join(t.When, " ")
		if t.Periods > 0 {
			when += fmt.Sprintf(", from %d periods on", t.Periods)
		}
		fmt.Fprintf(w, "    %s with %s: %s\n", t.Agent, when, strings.Join(t.Sets, " "))
	}
	listClaims(w, x)
	return nil
}

// sharedKey is a key of several agents.
type sharedKey struct {
	catalog.Key
	agents, defaults []string // the default of each agent
}

// keysOf returns the keys of an experiment's agents. The keys that most agents have come first. Keys of the same name
// but with different meanings are different keys.
func keysOf(x lab.Experiment) (all []*sharedKey, err error) {
	for _, name := range x.Order {
		settings, err := x.New(name)
		if err != nil {
			return nil, err
		}
		for _, k := range catalog.Keys(settings) {
			at := slices.IndexFunc(all, func(s *sharedKey) bool { return s.Name == k.Name && s.Help == k.Help })
			if at < 0 {
				at, all = len(all), append(all, &sharedKey{Key: k})
			}
			all[at].agents, all[at].defaults = append(all[at].agents, name), append(all[at].defaults, k.Default)
		}
	}
	slices.SortStableFunc(all, func(a, b *sharedKey) int {
		return cmp.Or(cmp.Compare(len(b.agents), len(a.agents)), cmp.Compare(a.owners(), b.owners()),
			boolInt(b.PerRun)-boolInt(a.PerRun))
	})
	return all, nil
}

func (k *sharedKey) owners() string { return strings.Join(k.agents, ", ") }

// ownDefaults returns, after a colon, the defaults of an agent that differ from the table's defaults, which are the
// first agent's. It returns "" if no default differs.
func ownDefaults(agent string, keys []*sharedKey) string {
	var out []string
	for _, k := range keys {
		if i := slices.Index(k.agents, agent); i >= 0 && k.defaults[i] != k.defaults[0] {
			out = append(out, k.Name+"="+k.defaults[i])
		}
	}
	if out == nil {
		return ""
	}
	return ": " + strings.Join(out, " ")
}

// route returns a remark about the agent's default method to compute the gradient, or "" for an agent without a
// gradient.
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
func listClaims(w io.Writer, x lab.Experiment) {
	if len(claimsOf[x.Name]) == 0 {
		return
	}
	fmt.Fprintf(w, "\n  claims: hyper check %s --claim NAME tests one of them\n", x.Name)
	for _, c := range claimsOf[x.Name] {
		fmt.Fprintf(w, "    %s: %s\n      %v; with --quick %v\n", c.Name, c.Text, c.Full, c.Quick)
	}
	fmt.Fprintln(w)
}

func listParts(w io.Writer) {
	listEntries(w, "learners that --agent can run in every experiment, in addition to its own agents",
		catalog.Learners())
	listEntries(w, "policies: --policy NAME, or --set policy=NAME", catalog.Policies())
	listEntries(w, "beliefs: --set belief=NAME", catalog.Beliefs())
	listEntries(w, "losses: --set loss=NAME", catalog.Losses())
	listEntries(w, "optimizers: --set optimizer=NAME", catalog.Optimizers())
	listEntries(w, "schedules: --set schedule=NAME", catalog.Schedules())
	fmt.Fprintln(w, "methods to compute the gradient: training uses the first that fits belief, loss and the key "+
		"integrate")
	for _, r := range train.Routes() {
		fmt.Fprintf(w, "  %-26s %s\n", r.Name, r.About)
	}
	fmt.Fprintln(w)
}

func listEntries[T any](w io.Writer, title string, entries []catalog.Entry[T]) {
	fmt.Fprintln(w, title)
	for _, e := range entries {
		fmt.Fprintf(w, "  %-26s %s\n", e.Name, e.Doc)
	}
	fmt.Fprintln(w)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
