package notebook

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/study"
)

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
// those that are not tested, each with its claims. It judges the claims, which must be about later work, by the results in
// results/beyond/ next to the notebook, as `hyper check beyond` does: with a correction for all claims about later work.
// A statement whose claims have different verdicts is in several lines, each of which says that it is a part.
func VerdictsOnStatements(all ...Statement) string { return verdictLines(all, laterVerdicts()) }

// laterVerdicts returns the verdicts on all claims about later work, by name.
func laterVerdicts() map[string]study.Verdict {
	archive := study.NewArchive(filepath.Join("results", "beyond"), Known)
	verdicts := map[string]study.Verdict{}
	for _, j := range must.M1(archive.JudgeClaims(beyond.Order, beyond.Claims)) {
		verdicts[j.Claim.Name] = j.Finding.Verdict
	}
	return verdicts
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
