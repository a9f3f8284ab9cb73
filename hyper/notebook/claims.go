package notebook

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// ClaimsTable returns a table of the claims about experiments, sorted by verdict. It judges the claims by the results
// in results/ or results/beyond/ next to the notebook, as `hyper check --all` and `hyper check beyond` do: with a
// correction for all claims about the paper, or about later work. Claims that belong to the paper's ten sentences have
// no verdict of their own and are left out: see [Answers].
func ClaimsTable(experiments ...lab.Experiment) *Table {
	var all, some []study.Judgement
	for _, later := range []bool{false, true} {
		if slices.ContainsFunc(experiments, func(x lab.Experiment) bool { return isLater(x) == later }) {
			all = append(all, judged(later)...)
		}
	}
	for _, x := range experiments {
		for _, j := range all {
			if j.Experiment.Name == x.Name {
				some = append(some, j)
			}
		}
	}
	return tableOf(some)
}

// isLater reports whether an experiment is from later work.
func isLater(x lab.Experiment) bool { return slices.Contains(beyond.Order, x.Name) }

// judged returns the judgements of all claims about later work, or of all claims about the paper.
func judged(later bool) []study.Judgement {
	if later {
		return must.M1(study.NewArchive(filepath.Join("results", "beyond"), known).JudgeClaims(beyond.Order, beyond.Claims))
	}
	return must.M1(study.NewArchive("results", known).JudgeClaims(paper.Order, paper.Claims))
}

// tableOf returns the table of [ClaimsTable].
func tableOf(all []study.Judgement) *Table {
	t := NewTable("claim", "statistic, and what the claim says of it", "estimate, 95% interval", "runs × periods", "verdict")
	for _, v := range verdicts {
		for _, j := range all {
			if verdict, more := j.VerdictCell(); verdict == v {
				cells := j.EvidenceCells()
				t.Row(j.ClaimCell(), cells[0], cells[1], cells[2], "**"+string(verdict)+"**"+more)
			}
		}
	}
	return t
}

// verdicts lists all verdicts in the order of [ClaimsTable].
var verdicts = []study.Verdict{study.Reproduced, study.Refuted, study.Undecided, study.NotTested}

// Statement is a statement of a work that followed the paper, with the claims that test it.
type Statement struct {
	text   string
	claims []string // names
}

// Quote returns a quotation from a work with the names of the claims that test it. Without names the quotation is not
// tested.
func Quote(text string, claims ...string) Statement { return Statement{"“" + text + "”", claims} }

// Paraphrase is like [Quote], for a statement in this project's words, such as what a figure of a work shows.
func Paraphrase(text string, claims ...string) Statement { return Statement{text, claims} }

// VerdictsOnStatements returns three lines: the statements that are reproduced, those that are refuted or undecided, and
// those that are not tested, each with its claims. It judges the claims, which must be about later work, as
// [ClaimsTable] does. A statement whose claims have different verdicts is in several lines, each of which says that it
// is a part.
func VerdictsOnStatements(all ...Statement) string {
	return verdictLines(all, verdictsOf(judged(true)))
}

// verdictsOf returns the verdicts on claims, by name.
func verdictsOf(all []study.Judgement) map[string]study.Verdict {
	verdict := map[string]study.Verdict{}
	for _, j := range all {
		verdict[j.Claim.Name] = j.Finding.Verdict
	}
	return verdict
}

// verdictLines returns the lines of [VerdictsOnStatements] for the verdicts on claims, by name.
func verdictLines(all []Statement, verdict map[string]study.Verdict) string {
	with := func(v study.Verdict) (out []string) {
		for _, s := range all {
			if text := s.with(v, verdict); text != "" {
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
	line := func(title string, parts []string, between string) string {
		if len(parts) == 0 {
			parts = []string{"nothing"}
		}
		return fmt.Sprintf("* **%s**: %s.\n", title, strings.Join(parts, between))
	}
	return line("Reproduced", with(study.Reproduced), "; ") + line("Not reproduced", not, ". ") +
		line("Not tested", with(study.NotTested), "; ")
}

// with returns the statement with the names of its claims that have the verdict v, or "" if none has. A statement
// without claims is not tested.
func (s Statement) with(v study.Verdict, verdict map[string]study.Verdict) string {
	var names []string
	for _, name := range s.claims {
		if verdict[name] == "" {
			panic(fmt.Errorf("there is no claim %s about later work", name))
		}
		if verdict[name] == v {
			names = append(names, name)
		}
	}
	switch {
	case len(s.claims) == 0 && v == study.NotTested:
		return s.text
	case len(names) == 0:
		return ""
	}
	part := ""
	if len(names) < len(s.claims) {
		part = "in part: "
	}
	return s.text + " (" + part + "`" + strings.Join(names, "`, `") + "`)"
}
