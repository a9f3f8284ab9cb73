package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/study"
)

// table prints the claims of experiments that do not belong to the ten sentences, from the results of a folder.
func (f *checkFlags) table(c *cobra.Command, experiments []string) error {
	for _, flag := range []string{"periods", "runs", "quick", "seed"} {
		if c.Flags().Changed(flag) {
			return fmt.Errorf("--%s needs a single experiment: in a table of all claims each has its own size", flag)
		}
	}
	if len(f.study) != 1 {
		return errors.New("a table of all claims needs one --study DIR, with a folder of results for each experiment")
	}
	all, err := f.archive().JudgeClaims(experiments, claims)
	if err != nil {
		return fmt.Errorf("--study %w", err)
	}
	if all, err = namedClaims(all, f.only); err != nil {
		return err
	}
	count := map[study.Verdict]int{}
	for _, j := range all {
		count[j.Finding.Verdict]++
		if f.json {
			if err := printLines(j.Finding); err != nil {
				return err
			}
		}
	}
	if !f.json {
		fmt.Print(study.ClaimsTable(all))
	}
	return verdicts(count)
}

// archive returns the folder of the flag --study as an archive.
func (f *checkFlags) archive() *study.Archive {
	a := study.NewArchive(f.study[0], known)
	a.Mix = f.engine.mix.reporter()
	return a
}

// namedClaims returns the claims with the given names, or all if there are no names.
func namedClaims(all []study.Judgement, names []string) (out []study.Judgement, err error) {
	var known []string
	for _, j := range all {
		known = append(known, j.Claim.Name)
		if len(names) == 0 || slices.Contains(names, j.Claim.Name) {
			out = append(out, j)
		}
	}
	return out, unknown("claim", known, names...)
}
