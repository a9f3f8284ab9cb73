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
	"github.com/hypermodels/hypermodels/hyper/study"
)

// Outcomes returns the lines about the claims of experiments in the table of results/README.md or
// results/beyond/README.md, sorted by verdict. The verdicts are corrected for all claims of that table. Claims that
// belong to the paper's ten sentences have no verdict of their own and are left out: see [Answers].
func Outcomes(experiments ...lab.Experiment) *Table {
	var claims []study.Claim
	for _, x := range experiments {
		claims = append(claims, paper.Claims[x.Name]...)
	}
	return outcomes(claims)
}

// outcomes is [Outcomes] for claims.
func outcomes(claims []study.Claim) *Table {
	p := readPage()
	var lines [][]string // claim, statistic and what the claim says, estimate, size, verdict
	for _, c := range claims {
		if c.Sentence == 0 {
			lines = append(lines, append([]string{"`" + c.Name + "`: " + c.Text}, p.line(c.Name)...))
		}
	}
	t := NewTable("claim", "statistic, and what the claim says of it", "estimate, 95% interval", "runs × periods", "verdict")
	for _, v := range verdicts {
		for _, cells := range lines {
			if verdict, ok := strings.CutPrefix(cells[4], string(v)); ok {
				t.Row(cells[0], cells[1], cells[2], cells[3], "**"+string(v)+"**"+verdict)
			}
		}
	}
	return t
}

// verdicts lists all verdicts in the order of [Outcomes].
var verdicts = []study.Verdict{study.Reproduced, study.Refuted, study.Undecided, study.NotTested}

// Words are a statement of a paper, with the claims that test it.
type Words struct {
	Text   string
	Claims []string
	ours   bool
}

// Says returns a quotation from a paper with the names of the claims that test it. Without names the quotation is not
// tested.
func Says(text string, claims ...string) Words { return Words{text, claims, false} }

// Shows is like Says for a statement in this project's words about a figure of a paper.
func Shows(text string, claims ...string) Words { return Words{text, claims, true} }

// InShort returns three lines: the statements that are reproduced, those that are refuted or undecided, and those that
// are not tested, each with its claims. The verdicts come from the tables that [Outcomes] reads. A statement whose
// claims have different verdicts is in several lines, each of which says that it is a part.
func InShort(all ...Words) string {
	p, of := readPage(), map[string]study.Verdict{}
	for _, w := range all {
		for _, name := range w.Claims {
			verdict := p.line(name)[3]
			at := slices.IndexFunc(verdicts, func(v study.Verdict) bool { return strings.HasPrefix(verdict, string(v)) })
			if at < 0 {
				panic(fmt.Errorf("the table of claims has no verdict for the claim %s: %q", name, verdict))
			}
			of[name] = verdicts[at]
		}
	}
	with := func(v study.Verdict) (out []string) {
		for _, w := range all {
			if text := w.with(v, of); text != "" {
				out = append(out, text)
			}
		}
		return out
	}
	var not []string
	for _, v := range []study.Verdict{study.Refuted, study.Undecided} {
		if some := with(v); len(some) > 0 {
			not = append(not, "*"+string(v)+"*: "+strings.Join(some, "; "))
		}
	}
	return line("Reproduced", with(study.Reproduced), "; ") + line("Not reproduced", not, ". ") +
		line("Not tested", with(study.NotTested), "; ")
}

// with returns the statement with the names of its claims that have a verdict, or "" if none has. A statement without
// claims is not tested.
func (w Words) with(v study.Verdict, of map[string]study.Verdict) string {
	names := slices.DeleteFunc(slices.Clone(w.Claims), func(name string) bool { return of[name] != v })
	text := w.Text
	if !w.ours {
		text = "“" + text + "”"
	}
	switch {
	case len(w.Claims) == 0 && v == study.NotTested:
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

// line returns one of the three lines.
func line(title string, parts []string, between string) string {
	if len(parts) == 0 {
		parts = []string{"nothing"}
	}
	return fmt.Sprintf("* **%s**: %s.\n", title, strings.Join(parts, between))
}

// page is the text of results/README.md next to the notebook, and of results/beyond/README.md if it exists.
type page string

func readPage() page {
	text := must.M1(os.ReadFile(filepath.Join("results", "README.md")))
	later, err := os.ReadFile(filepath.Join("results", "beyond", "README.md"))
	if !errors.Is(err, os.ErrNotExist) {
		must.M(err)
	}
	return page(append(text, later...))
}

// line returns the cells of a claim's line in the table of claims, without the text of the claim.
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
