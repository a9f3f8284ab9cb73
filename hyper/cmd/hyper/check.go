package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// freshSeeds is where the seeds of checks begin: no default setting was chosen on these.
const freshSeeds = 1_000_000

func checkCommand() *cobra.Command {
	var quick, asJSON bool
	var engine engineFlags
	var seed uint64
	var only, study []string
	c := &cobra.Command{
		Use:   "check EXPERIMENT",
		Short: "Test the paper's claims on fresh seeds; exit status 1 unless all are reproduced",
		Args:  argument("EXPERIMENT"),
	}
	flags := c.Flags()
	flags.BoolVar(&quick, "quick", false, "fewer runs: a minute or two")
	flags.StringSliceVar(&only, "claim", nil, "claims to test, separated by commas (default: all)")
	flags.StringArrayVar(&study, "study", nil, "DIR|FILE: judge by these results instead of simulating; repeatable, or a pattern such as 'results/neural*.gz'")
	engine.mix.add(flags)
	flags.Uint64Var(&seed, "seed", freshSeeds, "first seed")
	flags.StringVar(&engine.backend, "backend", "", "as for hyper run")
	flags.IntVar(&engine.workers, "workers", 0, "as for hyper run")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object per claim")
	c.RunE = func(c *cobra.Command, args []string) error {
		x, err := experiment(args[0])
		if err != nil {
			return err
		}
		claims, err := selectClaims(x, only)
		if err != nil {
			return err
		}
		simulate := simulator(c.Context(), x, seed, engine)
		if len(study) > 0 {
			h, rows, err := readStudy(x, study, engine.mix)
			if err != nil {
				return err
			}
			simulate = lab.FromStudy(x, h, rows)
		}
		var refuted, undecided, unjudged int
		for _, claim := range claims {
			f, err := claim.Test(simulate, quick)
			if errors.Is(err, lab.ErrNotInStudy) || errors.Is(err, lab.ErrNoneBelow) || errors.Is(err, paper.ErrNotSearched) {
				fmt.Fprintf(os.Stderr, "hyper: %s cannot be judged: %v\n", claim.Name, err)
				unjudged++
				continue
			}
			if err != nil {
				return err
			}
			f.Claim = claim.Name
			switch f.Verdict {
			case lab.NotReproduced:
				refuted++
			case lab.Undecided:
				undecided++
			}
			printFinding(claim, f, asJSON)
		}
		if refuted+undecided+unjudged > 0 {
			return failure{fmt.Errorf("of %d claims %d not reproduced, %d undecided, %d cannot be judged", len(claims), refuted, undecided, unjudged)}
		}
		return nil
	}
	return c
}

func selectClaims(x lab.Experiment, names []string) ([]lab.Claim, error) {
	var known []string
	var out []lab.Claim
	for _, c := range x.Claims {
		known = append(known, c.Name)
		if len(names) == 0 || slices.Contains(names, c.Name) {
			out = append(out, c)
		}
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("experiment %s has no claim %q; its claims are %s", x.Name, n, strings.Join(known, ", "))
		}
	}
	return out, nil
}

// simulator runs agents of an experiment for claims. It writes nothing; what was asked before, by another claim, is not run again.
func simulator(ctx context.Context, x lab.Experiment, seed uint64, engine engineFlags) lab.Simulator {
	type results struct {
		h    lab.Header
		rows []lab.Row
	}
	done := map[string]results{}
	return func(agents, sets []string, size lab.Size) (lab.Header, []lab.Row, error) {
		asked := fmt.Sprintf("%q %q %v", agents, sets, size)
		if r, ok := done[asked]; ok {
			return r.h, r.rows, nil
		}
		spec, err := x.Spec(agents, sets, size, seed)
		if err != nil {
			return lab.Header{}, nil, err
		}
		bar := newProgressBar(os.Stderr)
		defer bar.finish()
		o, err := engine.options("", bar)
		if err != nil {
			return lab.Header{}, nil, err
		}
		h, rows, err := lab.Simulate(ctx, spec, paper.Known, o)
		if errors.Is(err, lab.ErrInterrupted) {
			fmt.Fprintln(os.Stderr, "hyper: interrupted; a check keeps no results")
		}
		if err == nil {
			done[asked] = results{h, rows}
		}
		return h, rows, err
	}
}

// readStudy reads results of an experiment from the files that the patterns match.
func readStudy(x lab.Experiment, patterns []string, mix mixFlag) (h lab.Header, rows []lab.Row, err error) {
	var paths []string
	for _, p := range patterns {
		found, err := filepath.Glob(p)
		if err != nil || len(found) == 0 {
			return h, nil, fmt.Errorf("--study %s: no such file or folder", p)
		}
		paths = append(paths, found...)
	}
	h, rows, err = lab.Study{Mix: mix.hear()}.Read(paper.Known, paths...)
	if err == nil && h.Spec.Experiment != x.Name {
		err = fmt.Errorf("--study holds results of experiment %s, not of %s", h.Spec.Experiment, x.Name)
	}
	return h, rows, err
}

func printFinding(c lab.Claim, f lab.Finding, asJSON bool) {
	if asJSON {
		_ = printLines(f)
		return
	}
	fmt.Printf("%s: %s\n  %s\n", c.Name, c.Text, f)
	if f.Diverged > 0 {
		fmt.Printf("  %d runs diverged and are left out\n", f.Diverged)
	}
	if runs, ok := f.RunsToDecide(); ok {
		fmt.Printf("  about %.0f runs would decide\n", runs)
	}
}
