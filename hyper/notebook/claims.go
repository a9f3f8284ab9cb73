package notebook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// alone says how the verdicts of [Verdicts] differ from those of [Outcomes].
const alone = "\nEach claim is judged alone here. The [table of all claims](results/README.md) corrects its verdicts " +
	"by Holm's method: a claim that is decided here may be undecided there.\n"

// Verdicts is a table of the experiment's claims, tested on a study: each at its own full size, or where the study has
// not come to that at a smaller one, as the verdict then says. A claim is not judged when it compares what the study
// lacks. Each claim is judged alone, without Holm's correction, as the table says.
func Verdicts(h lab.Header, rows []lab.Row) *Table {
	x := paper.Known[h.Spec.Experiment]
	t := NewTable("claim", "statistic", "estimate, 95% interval", "the claim says", "pairs", "diverged", "verdict")
	for _, c := range x.Claims {
		name := fmt.Sprintf("`%s`: %s", c.Name, c.Text)
		judged := must.M1(paper.JudgeStudy(x.Name, c, lab.FromStudy(x, h, rows)))
		f, asked := judged.Shown().Finding, ""
		if f.Reason != "" {
			t.Row(name, nil, nil, nil, nil, nil, fmt.Sprintf("**%s**: %s", f.Verdict, f.Reason))
			continue
		}
		if judged.Smaller != nil {
			asked = fmt.Sprintf(" at this size, which decides nothing: the claim asks for %v", c.Full)
		}
		t.Rowf("%s | %s | %.3g [%.3g, %.3g] | %s | %d | %d | **%s**%s", name, f.Statistic, f.Estimate, f.Lower, f.Upper,
			f.Wants(), f.Runs, f.Diverged, f.Verdict, asked)
	}
	t.text.WriteString(alone)
	return t
}

// Outcomes is what the table of all claims, results/README.md beside the notebook, says of the claims of experiments,
// sorted by verdict. These verdicts are corrected for all claims of that table.
func Outcomes(experiments ...lab.Experiment) *Table {
	page := string(must.M1(os.ReadFile(filepath.Join("results", "README.md"))))
	var lines [][]string // claim, statistic and what the claim says, estimate, size, run-periods, share, verdict
	for _, x := range experiments {
		for _, c := range x.Claims {
			_, line, ok := strings.Cut(page, "\n| `"+c.Name+"`: ")
			if !ok {
				panic(fmt.Errorf("results/README.md has no line for the claim %s", c.Name))
			}
			line, _, _ = strings.Cut(line, " |\n")
			cells := append([]string{"`" + c.Name + "`"}, strings.Split(line, "|")[1:]...)
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			lines = append(lines, cells)
		}
	}
	t := NewTable("claim", "statistic, and what the claim says of it", "estimate, 95% interval", "runs × periods",
		"verdict among all claims")
	for _, v := range []lab.Verdict{lab.Reproduced, lab.Refuted, lab.Undecided, lab.NotTested} {
		for _, cells := range lines {
			if verdict, ok := strings.CutPrefix(cells[6], string(v)); ok {
				t.Row(cells[0], cells[1], cells[2], cells[3], "**"+string(v)+"**"+verdict)
			}
		}
	}
	return t
}
