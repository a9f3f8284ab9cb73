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

// VerdictsOnStatements returns a line of Markdown for each statement, with its verdict: first statements that hold, then
// those that do not hold, those that are open, and those that are not tested. A statement holds if all its claims are
// reproduced, and does not hold if one of them is refuted. Otherwise it is open if a claim is tested. The claims, which
// must be about later work, are judged by the results in results/beyond/ next to the notebook, as `hyper check beyond`
// does: with a correction for all claims about later work.
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
func verdictLines(all []Statement, claims map[string]study.Verdict) string {
	texts := map[study.Verdict][]string{}
	for _, s := range all {
		v := s.verdict(claims)
		texts[v] = append(texts[v], s.text)
	}
	var b strings.Builder
	for _, v := range []study.Verdict{study.Holds, study.DoesNotHold, study.Open, study.NotTested} {
		for _, text := range texts[v] {
			fmt.Fprintf(&b, "* **%s**: %s.\n", strings.ToUpper(string(v[:1]))+string(v[1:]), text)
		}
	}
	return b.String()
}

// verdict returns the verdict on the statement for the verdicts on claims, by name.
func (s Statement) verdict(claims map[string]study.Verdict) study.Verdict {
	count := map[study.Verdict]int{}
	for _, name := range s.claims {
		if claims[name] == "" {
			panic(fmt.Errorf("there is no claim %s about later work", name))
		}
		count[claims[name]]++
	}
	switch len(s.claims) {
	case count[study.NotTested]: // also without claims
		return study.NotTested
	case count[study.Reproduced]:
		return study.Holds
	}
	if count[study.Refuted] > 0 {
		return study.DoesNotHold
	}
	return study.Open
}
