package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/internal/shell"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/tune"
)

// tuningSeeds is the first seed of searches, far from the seeds of runs and checks.
const tuningSeeds = 2_000_000

type tuneFlags struct {
	search tune.Search
	engine engineFlags
	space  []string
	rungs  []string
	from   string
	out    string
}

func (f *tuneFlags) add(c *cobra.Command) {
	flags, t := c.Flags(), &f.search
	flags.StringVar(&t.Agent, "agent", "", "an agent of the experiment, another learner, or FILE.json; see hyper list")
	flags.StringArrayVar(&t.Sets, "set", nil, "KEY=V: a setting that all candidates share; repeatable")
	flags.StringArrayVar(&f.space, "space", []string{"step-size=0.001:1"},
		"KEY=LOW:HIGH (logarithmic) or KEY=V,V,...: the values of a key to search; KEY[OTHER=VALUE]=LOW:HIGH applies "+
			"if another key has a value; a value that is listed twice is tried twice as often; repeatable")
	flags.StringArrayVar(&f.rungs, "rung", nil,
		"CANDIDATES:RUNS:PERIODS of a round, instead of --candidates, --runs and --periods; repeatable")
	flags.IntVar(&t.Candidates, "candidates", 27, "number of settings to try")
	flags.IntVar(&t.Size.Periods, "periods", 1000, "number of periods of each run in the last round")
	flags.IntVar(&t.Size.Runs, "runs", 32, "number of runs of each candidate in the last round")
	flags.Uint64Var(&t.Seed, "seed", tuningSeeds, "first seed")
	flags.BoolVar(&t.Least, "least", false,
		"search for the least computation that performs well instead of the least regret")
	flags.StringVar(&f.from, "champion", "",
		"FILE: the record of an earlier search of the agent; its winner is one of the candidates of the last round")
	flags.StringVar(&f.out, "out", "", "folder for the results (required)")
	f.engine.addBatches(flags)
	f.engine.addContinuing(flags, workersUsage)
	f.engine.addJSON(flags, "print the record of the search, OUT/tune.json, as one JSON object")
}

func tuneCommand() *cobra.Command {
	var f tuneFlags
	c := &cobra.Command{
		Use:   "tune EXPERIMENT|FILE.csv|FILE.parquet",
		Short: "Search for an agent's settings by successive halving",
		Long: `tune runs all candidates on a few seeds, then the best third of them on twice as
many seeds and for 1.5 times as many periods, and so on. Agents that are tuned
with the same --candidates, --periods, --runs and --seed have the same budget
and meet the same environments. The record is OUT/tune.json. If tune is called
again with the same arguments, it continues.

A search starts from the agent's defaults, and not from the results of earlier
searches, which hyper run uses (hyper list EXPERIMENT). Evaluate the winner on
other seeds by the command that tune prints: it sets all keys that would differ.
hyper run and hyper check use none of the search's seeds.

With --least the search is for the least computation, by the paper's formula,
that performs well (figure 2: an average regret below 0.01 sqrt(K)). Settings
whose average regret is below that bound with 95% confidence come first, from
less to more computation. The settings whose mean is below the bound follow, and
then the others by regret. Since the bound is for all periods together, all
rounds have all periods.

If a winner is at the edge of a range, tune prints the key: search again with
another range. With --champion FILE the winner of the earlier search also runs
in the last round. It keeps the agent's --set values of its own search. The new
winner is therefore the best of both searches.

In the table, SE is a standard error, or a dash for a single run. The column
"behind the best" is the difference from the first row, paired by seed.`,
		Example: `  hyper tune neural --agent linear --space step-size=0.001:1 --space clip=0,1,5 --out tune-linear
  hyper tune frontier --least --agent linear --set arms=30 --space step-size=0.05:1.5 --space index-dim=1,2,3,5 \
    --space index-samples=1,2,4,8 --periods 10000 --out least`,
		Args: argument("EXPERIMENT"),
	}
	f.add(c)
	c.RunE = func(c *cobra.Command, args []string) error { return f.run(c, args[0]) }
	return c
}

func (f *tuneFlags) run(c *cobra.Command, name string) error {
	t := f.search
	if strings.Contains(t.Agent, ",") {
		return fmt.Errorf("--agent=%s: tune searches for the settings of one agent: call it once for each", t.Agent)
	}
	x, err := searched(&t, name, t.Agent)
	if err != nil {
		return err
	}
	switch {
	case t.Agent == "" && f.out == "":
		return errors.New("--agent and --out must be given")
	case t.Agent == "":
		return errors.New("--agent must be given: the agent whose settings are searched for")
	case f.out == "":
		return errors.New("--out must be given: the folder of the search")
	}
	if s, err := x.New(t.Agent); err == nil && !c.Flags().Changed("space") && !catalog.HasKey(s, "step-size") {
		return fmt.Errorf("agent %s has no step-size, which tune searches by default: give --space; the keys of %s are %s",
			t.Agent, t.Agent, strings.Join(slices.Sorted(slices.Values(catalog.KeyNames(s))), ", "))
	}
	if t.Space, err = dimensions(f.space); err != nil {
		return err
	}
	if err := sayTable(c.ErrOrStderr(), x, t); err != nil {
		return err
	}
	if t.Plan, err = stages(f.rungs); err != nil {
		return err
	}
	if last := len(t.Plan) - 1; last >= 0 {
		t.Candidates, t.Size = t.Plan[0].Candidates, t.Plan[last].Size
	}
	if t.Champion, err = champion(f.from, t, x); err != nil {
		return err
	}
	_, missing := os.Stat(f.out)
	if err := newFolder(f.out, firstRung); err != nil {
		return err
	}
	t, err = work(f.engine, f.out, func(o lab.Options) (tune.Search, error) {
		return tune.Run(c.Context(), t, knownExperiments, o)
	})
	if errors.Is(err, lab.ErrInterrupted) {
		fmt.Fprintln(c.ErrOrStderr(), "hyper: interrupted; all results are saved: the same command continues")
	}
	if err := tidied(err, f.out, missing != nil); err != nil {
		return err
	}
	if err := t.Save(f.out); err != nil {
		return err
	}
	if f.engine.json {
		return printLines(c.OutOrStdout(), t)
	}
	if err := printTuning(c.OutOrStdout(), t, filepath.Join(f.out, tune.RecordFile)); err != nil {
		return err
	}
	sets, err := t.Winner(x)
	if err != nil {
		return err
	}
	size := t.Rungs[len(t.Rungs)-1].Size
	command := []string{"hyper run", shell.Word(t.Experiment), "--agent", shell.Word(f.search.Agent), "--periods",
		strconv.Itoa(size.Periods), "--runs", strconv.Itoa(size.Runs)}
	for _, set := range sets {
		command = append(command, "--set", shell.Word(set))
	}
	_, err = fmt.Fprintln(c.OutOrStdout(), "on other seeds:", strings.Join(command, " "))
	return err
}

// dimensions returns the dimensions that the texts of --space describe.
func dimensions(texts []string) (space []tune.Dimension, err error) {
	for _, text := range texts {
		d, err := tune.ParseDimension(text)
		if err != nil {
			return nil, err
		}
		space = append(space, d)
	}
	return space, nil
}

// champion returns the winner of the record of --champion, with the agent's values that were fixed in its search. The
// champion meets the world of the new search, with the new search's delay of rewards.
func champion(file string, t tune.Search, x lab.Experiment) ([]string, error) {
	if file == "" {
		return nil, nil
	}
	earlier, err := tune.ReadSearch(file)
	if err != nil {
		return nil, err
	}
	if earlier.Agent != t.Agent || len(earlier.Rungs) == 0 {
		return nil, fmt.Errorf("%s has no winner for agent %s: it is a search of %q with %d rounds done", file, t.Agent,
			earlier.Agent, len(earlier.Rungs))
	}
	setting, err := x.New(t.Agent)
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(earlier.Own, t.Own) {
		return nil, fmt.Errorf("%s is a search with other settings in the file of agent %s: search again without --champion",
			file, t.Agent)
	}
	winner := earlier.Best()
	ofAgent := func(set string) (key string, is bool) {
		key, _, _ = strings.Cut(set, "=")
		return key, !catalog.HasKey(setting.World, key) && key != "delay"
	}
	for _, set := range earlier.Sets {
		if _, is := ofAgent(set); is && !slices.Contains(t.Sets, set) {
			winner = append(winner, set)
		}
	}
	for _, set := range t.Sets { // keys that only the new search fixes
		key, is := ofAgent(set)
		given := func(set string) bool { return strings.HasPrefix(set, key+"=") }
		if !is || slices.ContainsFunc(winner, given) || slices.Contains(earlier.Sets, set) {
			continue
		}
		before, err := earlier.Values(x)
		if err != nil {
			return nil, err
		}
		if value, had := before[key]; had {
			winner = append(winner, fmt.Sprintf("%s=%v", key, value))
		}
	}
	return winner, nil
}

// stages returns the rounds of --rung.
func stages(texts []string) (plan []tune.Stage, err error) {
	for _, text := range texts {
		n, err := numbers(text)
		if err != nil || len(n) != 3 {
			return nil, fmt.Errorf("--rung %s does not have the form CANDIDATES:RUNS:PERIODS, such as 24:16:500", text)
		}
		plan = append(plan, tune.Stage{Candidates: n[0], Size: lab.Size{Runs: n[1], Periods: n[2]}})
	}
	return plan, nil
}

// numbers returns the whole numbers of a text, which are separated by colons.
func numbers(text string) (all []int, err error) {
	for _, part := range strings.Split(text, ":") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// printTuning prints the best candidates of each round, and the winner. record is the file with the search's record, for
// --champion, or "" if there is none.
func printTuning(w io.Writer, t tune.Search, record string) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range t.Rungs {
		fmt.Fprintf(table, "%d periods, %d runs\tmean regret\tSE\tbehind the best\tSE\tmedian\tdiverged\n",
			r.Size.Periods, r.Size.Runs)
		for _, o := range r.Results[:min(len(r.Results), 9)] {
			var settings []string
			for _, key := range slices.Sorted(maps.Keys(o.Settings)) {
				settings = append(settings, key+"="+o.Settings[key])
			}
			if o.Champion {
				settings = append(settings, "(champion)")
			}
			if t.Least {
				settings = append(settings, fmt.Sprintf("(computation %.3g)", o.Computation))
			}
			fmt.Fprintf(table, "  %s\t%.4g\t%s\t%.4g\t%s\t%.4g\t%d\n", strings.Join(settings, " "), float64(o.Mean),
				orDash(o.SE, fmt.Sprintf("%.2g", float64(o.SE))), float64(o.Behind),
				orDash(o.BehindSE, fmt.Sprintf("%.2g", float64(o.BehindSE))), float64(o.Median), o.Diverged)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "best:", strings.Join(t.Best(), " "))
	further := ""
	if record != "" {
		further = " and --champion " + shell.Word(record)
	}
	for _, d := range t.AtEdge() {
		fmt.Fprintf(w, "%s is at the edge of its range: search again with --space '%s'%s\n", d.Key, d, further)
	}
	return nil
}
