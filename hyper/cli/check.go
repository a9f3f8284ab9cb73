package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// freshSeeds is the first seed of checks. No default setting was chosen with these seeds.
const freshSeeds = 1_000_000

const checkHelp = `check tests the claims about an experiment, one after the other. A claim is
about a number, such as the regret of one agent divided by the regret of
another. The claim says that the number is below a bound. check simulates the
agents with seeds that were not used to choose any setting. It prints the number
with a 95% interval: of 100 such intervals about 95 contain the true number.
Then it prints a verdict:

  reproduced  The whole interval is below the bound. The claim holds here.
  refuted     The whole interval is above the bound. The claim does not hold
              here.
  undecided   The bound is inside the interval. More runs may decide. If check
              can estimate the necessary number of runs, it prints the number.
  not tested  There is nothing to compare. The study lacks runs, periods or
              settings that the claim needs, or no setting of an agent is good
              enough for the comparison. check says which.

A claim that two agents are alike has two bounds, and holds if the interval is
between them.

A run diverges when its predictions are no longer finite numbers. From then on
the run takes all actions in turn, and its regret counts like the regret of
every other run. check says how many runs diverged.

Each claim has its own number of runs and of periods: hyper list EXPERIMENT
shows both. With --study the study must have at least that many runs, with
results at exactly that period. --periods and --runs judge all claims at another
size; check then says so.

With --paper and --study DIR check tests whether the paper holds. It prints ten
sentences of the paper, each with the paper's words, one answer (holds, does not
hold, open), the number that decides the answer with its 95% interval, and what
would decide an open sentence. DIR is a folder such as notebooks/results; its
PROTOCOL.md says how the answers are found.

With --all and --study DIR check prints other findings: the table of all claims
that do not belong to the ten sentences, as Markdown, from the results in the
folders DIR/EXPERIMENT. These claims are judged together, and their verdicts are
corrected by Holm's method. Therefore some claims that are decided alone are
undecided in the table. --claim prints the lines of some claims. With the name
beyond instead of an experiment, check prints the table of the claims of later
work, which are judged together, too.

check keeps no results. If it is interrupted, the next call simulates again.
hyper run keeps its results; check judges them with --study.

The exit status is 0 if all claims are reproduced (with --paper: if all
sentences hold), 1 if not, 2 if the input is wrong, and 130 after an
interruption.`

const checkExample = `  hyper check gaussian --quick                                   # a minute or two, fewer runs
  hyper check gaussian --claim linear-near-exact                 # one claim, at its full size
  hyper check neural --study 'notebooks/results/neural/*.gz'     # on existing results
  hyper check ids --study mine --periods 300 --runs 40           # at the size of a smaller study
  hyper check --paper --study notebooks/results                  # does the paper hold? Ten answers
  hyper check --all --study notebooks/results                    # other findings
  hyper check beyond --study notebooks/results/beyond            # findings about later work`

type checkFlags struct {
	quick         bool
	all, paper    bool
	periods, runs int
	seed          uint64
	only, study   []string
	figure        string
	engine        engineFlags
}

func checkCommand() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:               "check EXPERIMENT | --paper --study DIR | --all --study DIR | beyond --study DIR",
		Short:             "Test the paper's claims, with 95% intervals: exit status 1 unless all are reproduced",
		Long:              checkHelp,
		Example:           checkExample,
		ValidArgsFunction: completeFirst,
		Args: func(c *cobra.Command, args []string) error {
			flag := "all"
			if f.paper {
				flag = "paper"
			}
			switch {
			case len(args) > 1 && len(f.study) > 0: // the shell has replaced the pattern
				return fmt.Errorf("%w; write a pattern in quotes: --study '*.gz'", argument("EXPERIMENT")(c, args))
			case !f.all && !f.paper:
				return argument("EXPERIMENT")(c, args)
			case len(args) > 0:
				return fmt.Errorf("--%s takes no EXPERIMENT, and got %s; see hyper check --help", flag, args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case f.figure != "" && !f.paper:
				return errors.New("--figure needs --paper")
			case f.paper:
				return f.answers(c)
			case f.all:
				return f.table(c, paper.Order)
			case args[0] == laterWork:
				return f.table(c, beyond.Order)
			}
			return f.run(c, args[0])
		},
	}
	flags := c.Flags()
	flags.BoolVar(&f.paper, "paper", false, "print whether ten sentences of the paper hold, from the results in "+
		"--study DIR")
	flags.StringVar(&f.figure, "figure", "", "with --paper: path of figures of the answers, .png and .svg")
	flags.BoolVar(&f.all, "all", false, "print the table of all claims that do not belong to the ten sentences, from "+
		"the results in --study DIR")
	flags.BoolVar(&f.quick, "quick", false, "use the claims' quick sizes, with fewer runs: takes a minute or two")
	flags.IntVar(&f.periods, "periods", 0, "judge after this number of periods (default: the claim's own number, see "+
		"hyper list)")
	flags.IntVar(&f.runs, "runs", 0, "judge with this number of runs of each agent (default: the claim's own number)")
	flags.StringSliceVar(&f.only, "claim", nil, "names of the claims to test, separated by commas (default: all, "+
		"see hyper list)")
	flags.StringArrayVar(&f.study, "study", nil, "DIR|FILE: judge by these results without a simulation; "+
		"repeatable, or a pattern such as 'results/neural*.gz'")
	f.engine.mix.add(flags)
	flags.Uint64Var(&f.seed, "seed", freshSeeds, "run i has seed SEED+i")
	flags.StringVar(&f.engine.backend, "backend", "", backendUsage)
	f.engine.addWorkers(flags, workersUsage)
	f.engine.addJSON(flags, "print one JSON object per claim")
	return c
}

// run tests the claims about an experiment.
func (f *checkFlags) run(c *cobra.Command, name string) error {
	x, err := experiment(name)
	if err != nil {
		return err
	}
	selected, err := selectClaims(x, f.only)
	if err != nil {
		return err
	}
	for _, size := range []struct {
		flag string
		n    int
	}{{"periods", f.periods}, {"runs", f.runs}} {
		if c.Flags().Changed(size.flag) && size.n < 1 {
			return fmt.Errorf("--%s must be at least 1, got %d", size.flag, size.n)
		}
	}
	if len(f.study) > 0 {
		err = refuseFlags(c, "cannot be combined with --study, which runs nothing", "seed", "backend", "workers")
	} else {
		err = refuseFlags(c, "needs --study", "mix")
	}
	if err != nil {
		return err
	}
	simulate := simulator(c.Context(), x, f.seed, f.engine)
	if len(f.study) > 0 {
		h, rows, err := readStudy(x, f.study, f.engine.mix)
		if err != nil {
			return err
		}
		simulate = analysis.Lookup(x, h, rows)
	}
	return f.judge(c.OutOrStdout(), x, selected, simulate)
}

// judge prints the finding of each claim.
func (f *checkFlags) judge(w io.Writer, x lab.Experiment, selected []study.Claim, simulate study.Simulator) error {
	count := map[study.Verdict]int{}
	for _, claim := range selected {
		j, err := study.Judge(x, claim, f.size(claim), simulate)
		if err != nil {
			return err
		}
		count[j.Finding.Verdict]++
		if err := f.print(w, claim, j.Finding); err != nil {
			return err
		}
	}
	return checkReproduced(count)
}

func checkReproduced(count map[study.Verdict]int) error {
	all := count[study.Reproduced] + count[study.Refuted] + count[study.Undecided] + count[study.NotTested]
	if all == count[study.Reproduced] {
		return nil
	}
	return failure{fmt.Errorf("of %d claims %d reproduced, %d refuted, %d undecided, %d not tested", all,
		count[study.Reproduced], count[study.Refuted], count[study.Undecided], count[study.NotTested])}
}

func (f *checkFlags) size(claim study.Claim) lab.Size {
	size := claim.Size(f.quick)
	if f.periods > 0 {
		size.Periods = f.periods
	}
	if f.runs > 0 {
		size.Runs = f.runs
	}
	return size
}

func (f *checkFlags) print(w io.Writer, c study.Claim, found study.Finding) error {
	if f.engine.json {
		return printNumbers(w, found)
	}
	fmt.Fprintf(w, "%s: %s\n  %s\n", c.Name, c.Text, found)
	if n := found.Diverged[0] + found.Diverged[1]; n > 0 {
		fmt.Fprintf(w, "  runs that diverged, and took all actions in turn from then on: %d\n", n)
	}
	if runs, ok := found.RunsToDecide(); ok {
		fmt.Fprintf(w, "  about %.0f runs would decide\n", runs)
	}
	if own, asked := c.Size(f.quick), f.size(c); own.String() != asked.String() {
		fmt.Fprintf(w, "  judged at %v, as --periods and --runs ask; the claim's own size is %v\n", asked, own)
	}
	return nil
}

// selectClaims returns the claims about an experiment with the given names, or all if there are no names.
func selectClaims(x lab.Experiment, names []string) ([]study.Claim, error) {
	if len(claimsOf[x.Name]) == 0 {
		return nil, fmt.Errorf("experiment %s has no claims to check: hyper compare compares its agents", x.Name)
	}
	return selectNamed(claimsOf[x.Name], func(c study.Claim) string { return c.Name }, names)
}

// selectNamed returns the items about claims with the given names, or all items if there are no names. name returns the
// name of an item's claim.
func selectNamed[T any](items []T, name func(T) string, names []string) (out []T, err error) {
	var all []string
	for _, item := range items {
		all = append(all, name(item))
		if len(names) == 0 || slices.Contains(names, name(item)) {
			out = append(out, item)
		}
	}
	return out, checkKnown("claim", all, names...)
}
