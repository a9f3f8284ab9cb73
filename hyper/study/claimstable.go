package study

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/internal/markdown"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// ClaimsTable returns judgements as Markdown, with a section and a table for each experiment.
func ClaimsTable(all []Judgement) string {
	var b strings.Builder
	for i, j := range all {
		if x := j.Experiment; i == 0 || x.Name != all[i-1].Experiment.Name {
			fmt.Fprintf(&b, "\n### %s: %s (`%s`)\n\n%s", upperFirst(SectionName(x.Section)), x.Title, x.Name,
				markdown.Table([]string{"Name: claim", "Statistic, and what the claim says of it", "Estimate, 95% interval",
					"Runs × periods", "Verdict"}, nil))
		}
		verdict, more := j.verdictCell()
		if cells := j.evidenceCells(); cells[0] != "" {
			b.WriteString(markdown.Row(j.claimCell(), cells[0], cells[1], cells[2], string(verdict)+more))
		} else {
			fmt.Fprintf(&b, "| %s | | | %s | %s%s |\n", j.claimCell(), cells[2], verdict, more)
		}
	}
	return b.String()
}

// SectionName returns an experiment's section in words. A number alone is a section of the paper.
func SectionName(section string) string {
	if section[0] < '0' || section[0] > '9' {
		return section
	}
	return "section " + section
}

// claimCell returns the cell of a table with the claim's name and text.
func (j Judgement) claimCell() string { return fmt.Sprintf("`%s`: %s", j.Claim.Name, j.Claim.Text) }

// evidenceCells returns three cells of a table: the statistic with the claimed range, the estimate with its interval,
// and the number of runs and periods. If there are only results of a smaller size, it shows these. Without an estimate
// the first two cells are empty.
func (j Judgement) evidenceCells() [3]string {
	if j.Smaller != nil {
		return j.Smaller.evidenceCells()
	}
	if j.Untested != nil {
		return [3]string{"", "", sizeText(j.Size)}
	}
	f := j.Finding
	size := lab.Size{Periods: f.Periods, Runs: f.Runs, Sets: j.Size.Sets}
	return [3]string{f.Kind + ", " + f.Claimed.String(), markdown.Interval(f.Estimate), sizeText(size)}
}

// verdictCell returns the verdict, and text to put behind it in the same cell: what the verdict is about, or what could
// change it.
func (j Judgement) verdictCell() (verdict Verdict, more string) {
	f := j.Finding
	switch {
	case j.Smaller != nil && j.Smaller.Untested != nil:
		more = fmt.Sprintf(" at %s; here %s", sizeText(j.Size), nonePasses(j.Smaller.Untested))
	case j.Smaller != nil:
		more = " at " + sizeText(j.Size)
	case errors.Is(j.Untested, analysis.ErrNoneBelow):
		more = ": " + nonePasses(j.Untested)
	case f.Verdict != Undecided:
	case f.DecidedAlone():
		more = ": decided alone, not among all claims"
		if runs, ok := f.RunsToDecideAmong(); ok {
			more = fmt.Sprintf(": decided alone; among all claims it needs some %s runs", markdown.Thousands(int(runs)))
		}
	default:
		if runs, ok := f.RunsToDecide(); ok {
			more = fmt.Sprintf(": alone it needs some %s runs", markdown.Thousands(int(runs)))
		}
	}
	return f.Verdict, more
}

// nonePasses says which agents have no setting that performs well.
func nonePasses(why error) string {
	agents := "either agent"
	if none, ok := errors.AsType[NonePassesError](why); ok && len(none.Agents) == 1 {
		agents = "agent " + none.Agents[0]
	}
	return "no setting of " + agents + " performs well with confidence"
}

// sizeText returns a size as runs × periods.
func sizeText(s lab.Size) string {
	text := fmt.Sprintf("%d × %s", s.Runs, markdown.Thousands(s.Periods))
	if len(s.Sets) > 0 {
		text += " (" + strings.Join(s.Sets, ", ") + ")"
	}
	return text
}
