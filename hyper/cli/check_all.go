package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/study"
)

// table prints the claims of experiments that do not belong to the ten sentences, from the results of a folder.
func (f *checkFlags) table(c *cobra.Command, experiments []string) error {
	const why = "needs a single experiment: in a table of all claims each has its own size"
	if err := refuseFlags(c, why, "periods", "runs", "quick", "seed"); err != nil {
		return err
	}
	if len(f.study) != 1 {
		return errors.New("a table of all claims needs one --study DIR, with a folder of results for each experiment")
	}
	all, err := f.archive().JudgeClaims(experiments, claimsOf)
	if err != nil {
		return fmt.Errorf("--study %w", err)
	}
	if all, err = selectNamed(all, func(j study.Judgement) string { return j.Claim.Name }, f.only); err != nil {
		return err
	}
	count := map[study.Verdict]int{}
	for _, j := range all {
		count[j.Finding.Verdict]++
		if f.engine.json {
			if err := printNumbers(c.OutOrStdout(), j.Finding); err != nil {
				return err
			}
		}
	}
	if !f.engine.json {
		fmt.Fprint(c.OutOrStdout(), study.ClaimsTable(all))
	}
	return checkReproduced(count)
}

// archive returns the folder of the flag --study as an archive.
func (f *checkFlags) archive() *study.Archive {
	a := study.NewArchive(f.study[0], knownExperiments)
	a.Mix = f.engine.mix.reporter()
	return a
}
