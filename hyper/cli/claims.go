package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// table prints all claims of experiments, in their order, from the results of a folder.
func (f *checkFlags) table(c *cobra.Command, order []string) error {
	for _, flag := range []string{"periods", "runs", "quick", "seed"} {
		if c.Flags().Changed(flag) {
			return fmt.Errorf("--%s needs a single experiment: in a table of all claims each has its own size", flag)
		}
	}
	if len(f.study) != 1 {
		return errors.New("a table of all claims needs one --study DIR, with a folder of results for each experiment")
	}
	all, err := judgeFolder(order, f.study[0], f.engine.mix)
	if err != nil {
		return err
	}
	if all, err = namedClaims(all, f.only); err != nil {
		return err
	}
	count := map[study.Verdict]int{}
	for _, j := range all {
		count[j.Finding.Verdict]++
	}
	if f.json {
		for _, j := range all {
			if err := printLines(j.Finding); err != nil {
				return err
			}
		}
		return verdicts(count)
	}
	writeClaims(os.Stdout, all)
	return verdicts(count)
}

// namedClaims returns the claims with the given names, or all if there are no names.
func namedClaims(all []paper.Judged, names []string) (out []paper.Judged, err error) {
	var known []string
	for _, j := range all {
		known = append(known, j.Claim.Name)
		if len(names) == 0 || slices.Contains(names, j.Claim.Name) {
			out = append(out, j)
		}
	}
	return out, unknown("claim", known, names...)
}

// judgeFolder judges all claims by the results in those subfolders of dir that have the names of experiments.
func judgeFolder(order []string, dir string, mix mixFlag) ([]paper.Judged, error) {
	studies := map[string][]study.Simulator{}
	for _, name := range order {
		for _, pattern := range studyPatterns(dir, name) {
			x := paper.Known[name]
			h, rows, err := readStudy(x, []string{pattern}, mix)
			if err != nil {
				return nil, err
			}
			studies[name] = append(studies[name], analysis.Lookup(x, h, rows))
		}
	}
	if len(studies) == 0 {
		return nil, noStudies(dir, order)
	}
	return paper.JudgeAll(order, studies)
}

// noStudies returns the error about a folder without results of experiments.
func noStudies(dir string, order []string) error {
	return fmt.Errorf("--study %s: found no results in folders named after experiments, such as %s", dir,
		filepath.Join(dir, order[0], "*.gz"))
}

// studyPatterns returns a pattern for each study of an experiment in a folder. The files directly in DIR/NAME are one
// study, and the files in each of its subfolders another, because results of different code are not joined.
func studyPatterns(dir, name string) (patterns []string) {
	for _, pattern := range []string{filepath.Join(dir, name, "*.gz"), filepath.Join(dir, name, "*", "*.gz")} {
		pieces, _ := filepath.Glob(pattern) // the only possible error is about the pattern
		for _, piece := range pieces {
			if p := filepath.Join(filepath.Dir(piece), "*.gz"); !slices.Contains(patterns, p) {
				patterns = append(patterns, p)
			}
		}
	}
	return patterns
}

// writeClaims writes the table as Markdown, with a section for each experiment.
func writeClaims(w io.Writer, all []paper.Judged) {
	last := ""
	for _, j := range all {
		if j.Experiment != last {
			x := paper.Known[j.Experiment]
			fmt.Fprintf(w, "\n### %s: %s (`%s`)\n\n", sectionTitle(x.Section), x.Title, x.Name)
			writeRows(w, []string{"Name: claim", "Statistic, and what the claim says of it", "Estimate, 95% interval",
				"Runs × periods", "Verdict"}, nil)
			last = j.Experiment
		}
		fmt.Fprintln(w, claimLine(j))
	}
}

func sectionTitle(section string) string {
	named := sectionName(section)
	return strings.ToUpper(named[:1]) + named[1:]
}

// sectionName returns an experiment's section in words. A number alone is a section of the paper.
func sectionName(section string) string {
	if section[0] < '0' || section[0] > '9' {
		return section
	}
	return "section " + section
}

// claimLine returns a line of the table. If there are only results of a smaller size, it shows these.
func claimLine(j paper.Judged) string {
	shown := j.Shown()
	f := shown.Finding
	name := fmt.Sprintf("`%s`: %s", j.Claim.Name, j.Claim.Text)
	if shown.Untested != nil {
		return fmt.Sprintf("| %s | | | %s | %s |", name, sizeText(shown.Size), judgement(j))
	}
	size := lab.Size{Periods: f.Periods, Runs: f.Runs, Sets: shown.Size.Sets}
	return fmt.Sprintf("| %s | %s, %s | %s | %s | %s |", name, f.Kind, f.Wants(), estimate(f), sizeText(size), judgement(j))
}

// estimate returns a finding's estimate with its interval.
func estimate(f study.Finding) string {
	return interval(stats.Estimate{Value: f.Estimate, Lower: f.Lower, Upper: f.Upper})
}

// judgement returns the verdict for the table, and what could change it.
func judgement(j paper.Judged) string {
	f := j.Finding
	switch {
	case j.Smaller != nil && j.Smaller.Untested != nil:
		return fmt.Sprintf("%s at %s; here %s", f.Verdict, sizeText(j.Size), nonePasses(j.Smaller.Untested))
	case j.Smaller != nil:
		return fmt.Sprintf("%s at %s", f.Verdict, sizeText(j.Size))
	case errors.Is(j.Untested, analysis.ErrNoneBelow):
		return string(f.Verdict) + ": " + nonePasses(j.Untested)
	case f.Verdict != study.Undecided:
		return string(f.Verdict)
	case f.DecidedAlone():
		if runs, ok := f.RunsToDecideAmong(); ok {
			return fmt.Sprintf("%s: decided alone; among all claims it needs some %s runs", f.Verdict, thousands(int(runs)))
		}
		return string(f.Verdict) + ": decided alone, not among all claims"
	}
	if runs, ok := f.RunsToDecide(); ok {
		return fmt.Sprintf("%s: alone it needs some %s runs", f.Verdict, thousands(int(runs)))
	}
	return string(f.Verdict)
}

// nonePasses says which agents have no setting that performs well.
func nonePasses(why error) string {
	var none paper.NonePasses
	agents := "either agent"
	if errors.As(why, &none) && len(none.Agents) == 1 {
		agents = "agent " + none.Agents[0]
	}
	return "no setting of " + agents + " performs well with confidence"
}

// sizeText returns a size as runs × periods.
func sizeText(s lab.Size) string {
	text := fmt.Sprintf("%d × %s", s.Runs, thousands(s.Periods))
	if len(s.Sets) > 0 {
		text += " (" + strings.Join(s.Sets, ", ") + ")"
	}
	return text
}

// number returns x with three digits and without an exponent.
func number(x float64) string {
	if math.Abs(x) >= 1000 && !math.IsInf(x, 0) {
		return thousands(int(math.Round(x)))
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// thousands returns a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
