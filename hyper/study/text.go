package study

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Finding describes the evidence for the answer in one line: the number with its interval, the claimed range, and, for
// an open sentence, what would decide it.
func (s Answered) Finding() string {
	p := s.Shown
	if p.Missing != "" {
		return "to be run: " + s.Needs
	}
	text := fmt.Sprintf("%s: %s, claimed %v", p.Text, p.Estimate(), p.Claim)
	if s.Verdict == Open {
		text += "; " + s.Needs + " would decide"
	}
	return text
}

// Estimate returns the number of a part with its interval.
func (p Part) Estimate() string {
	if math.IsNaN(float64(p.Value)) {
		return fmt.Sprintf("[%s, %s]", digits(p.Lower), digits(p.Upper))
	}
	return fmt.Sprintf("%s [%s, %s]", digits(p.Value), digits(p.Lower), digits(p.Upper))
}

// digits writes three significant digits, and no exponent between a thousandth and ten million.
func digits(x stats.Float) string {
	if v := math.Abs(float64(x)); v >= 1000 && v < 1e7 {
		return fmt.Sprintf("%.0f", float64(x))
	}
	return fmt.Sprintf("%.3g", float64(x))
}

// Line returns the answer as an item of a Markdown list, in one line.
func (s Answered) Line() string {
	return fmt.Sprintf("* **%d. %s: %s.** “%s” (%s). %s.\n", s.Number, s.Text, s.Verdict, s.Quote, s.Section,
		upperFirst(s.Finding()))
}

// Table returns the answers as a Markdown table.
func Table(all []Answered) string {
	var b strings.Builder
	b.WriteString("| | The paper says | Answer | What the runs say |\n| --- | --- | --- | --- |\n")
	for _, s := range all {
		fmt.Fprintf(&b, "| %d | %s (%s) | **%s** | %s |\n", s.Number, s.Text, s.Section, s.Verdict, s.Finding())
	}
	return b.String()
}

// Evidence returns all sentences with their answers and comparisons, in Markdown.
func Evidence(all []Answered) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "### %d. %s: %s\n\n%s\n%s\n", s.Number, upperFirst(s.Label), s.Verdict,
			wrapped(fmt.Sprintf("%s. In the paper's words: “%s” (%s).", s.Text, s.Quote, s.Section)), Parts(s))
	}
	return b.String()
}

// wrapped breaks a text into lines of at most 118 characters.
func wrapped(text string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		if i > 0 && column+1+n > 118 {
			b.WriteByte('\n')
			column = 0
		} else if i > 0 {
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String() + "\n"
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// Parts returns the evidence of a sentence as a Markdown table.
func Parts(s Answered) string {
	var b strings.Builder
	b.WriteString("| What is compared | Estimate, 95% interval | Claimed | Runs x periods | Diverged |\n" +
		"| --- | --- | --- | --- | --- |\n")
	for _, p := range s.Evidence {
		if p.Missing != "" {
			fmt.Fprintf(&b, "| %s | %s | %v | | |\n", p.Text, p.Missing, p.Claim)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %v | %s | %s |\n", p.Text, p.Estimate(), p.Claim, p.size(), p.diverged())
	}
	return b.String()
}

func (p Part) size() string {
	if p.Periods == 0 {
		return fmt.Sprintf("%d draws", p.Pairs)
	}
	return fmt.Sprintf("%d x %s", p.Pairs, thousands(p.Periods))
}

func (p Part) diverged() string {
	if p.Diverged == [2]int{} {
		return ""
	}
	return fmt.Sprintf("%d and %d", p.Diverged[0], p.Diverged[1])
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
