package notebook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// alone says how the verdicts of [Verdicts] differ from those of [Outcomes].
const alone = "\nEach claim is judged alone here. The [table of all claims](results/README.md) corrects its verdicts " +
	"by Holm's method: a claim that is decided here may be undecided there.\n"

// Verdicts is a table of an experiment's claims, each tested on the first of some studies that has what it compares: at
// its own full size, or where no study has come to that at a smaller one, as the verdict then says. Each claim is judged
// alone, without Holm's correction, as the table says.
func Verdicts(studies ...Held) *Table {
	x := paper.Known[studies[0].Header.Spec.Experiment]
	var simulators []lab.Simulator
	for _, s := range studies {
		simulators = append(simulators, lab.FromStudy(x, s.Header, s.Rows))
	}
	t := NewTable("claim", "statistic", "estimate, 95% interval", "the claim says", "pairs", "diverged", "verdict alone")
	for _, c := range x.Claims {
		name := fmt.Sprintf("`%s`: %s", c.Name, c.Text)
		judged := must.M1(paper.JudgeStudies(x.Name, c, simulators...))
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
// sorted by verdict. These verdicts are corrected for all claims of that table. Claims of later work than the paper's
// have a table of their own, results/beyond/README.md.
func Outcomes(experiments ...lab.Experiment) *Table {
	p := readPage()
	var lines [][]string // claim, statistic and what the claim says, estimate, size, run-periods, share, verdict
	for _, x := range experiments {
		for _, c := range x.Claims {
			lines = append(lines, append([]string{"`" + c.Name + "`"}, p.line(c.Name)...))
		}
	}
	t := NewTable("claim", "statistic, and what the claim says of it", "estimate, 95% interval", "runs × periods",
		"verdict among all claims")
	for _, v := range verdicts {
		for _, cells := range lines {
			if verdict, ok := strings.CutPrefix(cells[6], string(v)); ok {
				t.Row(cells[0], cells[1], cells[2], cells[3], "**"+string(v)+"**"+verdict)
			}
		}
	}
	return t
}

// verdicts are all, in the order of [Outcomes].
var verdicts = []lab.Verdict{lab.Reproduced, lab.Refuted, lab.Undecided, lab.NotTested}

// Words are words of a paper, with the claims that test them.
type Words struct {
	Text   string
	Claims []string
	ours   bool
}

// Says returns words of a paper with the names of the claims that test them: none is for words that no claim tests.
func Says(text string, claims ...string) Words { return Words{text, claims, false} }

// Shows is Says in words of ours, of what a paper shows in a figure.
func Shows(text string, claims ...string) Words { return Words{text, claims, true} }

// InShort is three lines: which words of the paper are reproduced, which are not, being refuted or undecided, and which
// are not tested, each with its claims. Verdicts are those of the tables that [Outcomes] reads. Words whose claims have
// several verdicts are in several lines, and each says that it is a part.
func InShort(all ...Words) string {
	p, of := readPage(), map[string]lab.Verdict{}
	for _, w := range all {
		for _, name := range w.Claims {
			verdict := p.line(name)[5]
			at := slices.IndexFunc(verdicts, func(v lab.Verdict) bool { return strings.HasPrefix(verdict, string(v)) })
			if at < 0 {
				panic(fmt.Errorf("the table of claims has no verdict for the claim %s: %q", name, verdict))
			}
			of[name] = verdicts[at]
		}
	}
	with := func(v lab.Verdict) (out []string) {
		for _, w := range all {
			if text := w.with(v, of); text != "" {
				out = append(out, text)
			}
		}
		return out
	}
	var not []string
	for _, v := range []lab.Verdict{lab.Refuted, lab.Undecided} {
		if some := with(v); len(some) > 0 {
			not = append(not, "*"+string(v)+"*: "+strings.Join(some, "; "))
		}
	}
	return line("Reproduced", with(lab.Reproduced), "; ") + line("Not reproduced", not, ". ") +
		line("Not tested", with(lab.NotTested), "; ")
}

// with is the words and the names of their claims that have a verdict, or "" where none has. Words without a claim are
// not tested.
func (w Words) with(v lab.Verdict, of map[string]lab.Verdict) string {
	names := slices.DeleteFunc(slices.Clone(w.Claims), func(name string) bool { return of[name] != v })
	text := w.Text
	if !w.ours {
		text = "“" + text + "”"
	}
	switch {
	case len(w.Claims) == 0 && v == lab.NotTested:
		return text
	case len(names) == 0:
		return ""
	}
	part := ""
	if len(names) < len(w.Claims) {
		part = "in part: "
	}
	return text + " (" + part + "`" + strings.Join(names, "`, `") + "`)"
}

// line is one of the three lines.
func line(title string, parts []string, between string) string {
	if len(parts) == 0 {
		parts = []string{"nothing"}
	}
	return fmt.Sprintf("* **%s**: %s.\n", title, strings.Join(parts, between))
}

// page is the text of results/README.md beside the notebook, and of results/beyond/README.md where there is one.
type page string

func readPage() page {
	text := must.M1(os.ReadFile(filepath.Join("results", "README.md")))
	later, err := os.ReadFile(filepath.Join("results", "beyond", "README.md"))
	if !errors.Is(err, os.ErrNotExist) {
		must.M(err)
	}
	return page(append(text, later...))
}

// line is the cells of a claim in the table of all claims, without its text.
func (p page) line(name string) []string {
	_, line, ok := strings.Cut(string(p), "\n| `"+name+"`: ")
	if !ok {
		panic(fmt.Errorf("results/README.md and results/beyond/README.md have no line for the claim %s", name))
	}
	line, _, _ = strings.Cut(line, " |\n")
	cells := strings.Split(line, "|")[1:]
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}
