package study

import (
	"fmt"
	"math"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/markdown"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Reason gives the reason for the answer in one line: the deciding number with its interval, the claimed range, and,
// for an open sentence, what would decide it.
func (s Answer) Reason() string {
	c := s.Deciding
	if c.Missing != "" {
		return s.Needs
	}
	text := fmt.Sprintf("%s: %s, claimed %v", c.Text, c.Interval(), c.Claimed)
	if s.Verdict == Open {
		text += "; " + s.Needs
	}
	return text
}

// ListItem returns the answer as an item of a Markdown list, in one line.
func (s Answer) ListItem() string {
	return fmt.Sprintf("* **%d. %s: %s.** “%s” (%s). %s.\n", s.Number, s.Text, s.Verdict, s.Quote, s.Section,
		upperFirst(s.Reason()))
}

// AnswersTable returns answers as a Markdown table, each with its deciding number and, if it is open, with what would
// decide it.
func AnswersTable(all []Answer) string {
	var rows [][]string
	for _, s := range all {
		number := "runs are missing"
		if c := s.Deciding; c.Missing == "" {
			number = fmt.Sprintf("%s: %s, claimed %v", c.Text, c.Interval(), c.Claimed)
		}
		rows = append(rows, []string{fmt.Sprint(s.Number), fmt.Sprintf("%s (%s)", s.Text, s.Section),
			"**" + string(s.Verdict) + "**", number, strings.Replace(s.Needs, " would decide", "", 1)})
	}
	return markdown.Table([]string{"", "What the paper says, in our words", "Answer", "Number that decides, or comes nearest",
		"What would decide"}, rows)
}

// CountVerdicts returns the number of answers with each verdict in words, as in "1 holds, 2 do not hold and 7 are
// open".
func CountVerdicts(all []Answer) string {
	count := map[Verdict]int{}
	for _, s := range all {
		count[s.Verdict]++
	}
	number := func(v Verdict, one, many string) string {
		if count[v] == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", count[v], many)
	}
	return number(Holds, "holds", "hold") + ", " + number(DoesNotHold, "does not hold", "do not hold") + " and " +
		number(Open, "is open", "are open")
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// ComparisonsTable returns the comparisons of the sentence as a Markdown table.
func (s Answer) ComparisonsTable() string {
	var b strings.Builder
	b.WriteString(markdown.Table([]string{"What is compared", "Estimate, 95% interval", "Claimed", "Runs x periods",
		"Diverged"}, nil))
	for _, c := range s.Comparisons {
		if c.Missing != "" {
			fmt.Fprintf(&b, "| %s | %s | %v | | |\n", c.Text, c.Missing, c.Claimed)
			continue
		}
		b.WriteString(markdown.Row(c.Text, c.Interval(), c.Claimed.String(), c.size(), c.divergedText()))
	}
	return b.String()
}

// digits writes three significant digits, and no exponent between a thousandth and ten million.
func digits(x stats.Float) string {
	if v := math.Abs(float64(x)); v >= 1000 && v < 1e7 {
		return fmt.Sprintf("%.0f", float64(x))
	}
	return fmt.Sprintf("%.3g", float64(x))
}
