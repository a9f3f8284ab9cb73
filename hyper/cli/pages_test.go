package cli

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/internal/markdown"
	"github.com/hypermodels/hypermodels/hyper/internal/toys"
	"github.com/hypermodels/hypermodels/hyper/lab/tune"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
)

// evidence returns all sentences with their answers and comparisons, in Markdown.
func evidence(all []study.Answer) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "### %d. %s: %s\n\n%s\n%s\n", s.Number, upperFirst(s.Label), s.Verdict,
			wrapped(fmt.Sprintf("%s. In the paper's words: “%s” (%s). %s.", s.Text, s.Quote, s.Section,
				upperFirst(s.Reason()))), s.ComparisonsTable())
	}
	return b.String()
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

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

func TestEvidence(t *testing.T) {
	s := study.Answer{Sentence: study.Sentence{Number: 3, Text: "It is so", Section: "section 9", Label: "so it is",
		Quote: strings.Repeat("it is so ", 20)}, Verdict: study.Open,
		Needs: "about 300 runs in all would decide: it would hold", Deciding: study.Comparison{Text: "a over b",
			Estimate: stats.Estimate{Value: 1.234, Lower: 0.9, Upper: 1200}, Claimed: study.Below(1)}}
	got := evidence([]study.Answer{s})
	for line := range strings.Lines(got) {
		if !strings.HasPrefix(line, "|") && utf8.RuneCountInString(line) > 120 {
			t.Errorf("line of %d characters, want at most 120: %s", utf8.RuneCountInString(line), line)
		}
	}
	for _, want := range []string{"### 3. So it is: open\n\nIt is so. In the paper's words: ",
		"claimed below 1; about 300 runs in all"} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("evidence: got %s, want %q", got, want)
		}
	}
}

// searches returns a Markdown table of the records of searches in a folder of the committed results. A row has the
// winner's settings, its regret in the last round, and the correlation between the ranks of settings in successive
// rounds.
func searches(folder string) string {
	number := func(x stats.Float) string { return strings.ReplaceAll(markdown.Number(float64(x)), ",", "") }
	var rows [][]string
	for _, file := range must.M1(filepath.Glob(archive().File(folder + "/*.json"))) {
		t := must.M1(tune.ReadSearch(file))
		winner := strings.Join(t.Best(), " ")
		for _, d := range t.AtEdge() {
			winner += fmt.Sprintf("; %s lies at an edge", d.Key)
		}
		var correlations []string
		for round := 1; round < len(t.Rungs); round++ {
			r, n := rankCorrelation(t, round)
			correlations = append(correlations, fmt.Sprintf("%.2f (%d settings)", r, n))
		}
		best := t.Rungs[len(t.Rungs)-1].Results[0]
		rows = append(rows, []string{strings.TrimSuffix(filepath.Base(file), ".json"), winner,
			number(best.Mean) + " ± " + number(best.SE), strings.Join(correlations, ", ")})
	}
	return markdown.Table([]string{"Record", "Winner", "Mean regret ± standard error", "Rank correlation of rounds"},
		rows)
}

// rankCorrelation returns Spearman's rank correlation between mean regrets in a round and in the round before, counted
// from 0, over the settings that both have, and the number of these settings.
func rankCorrelation(t tune.Search, round int) (correlation float64, settings int) {
	var before, after []float64
	for _, o := range t.Rungs[round].Results {
		same := func(p tune.Outcome) bool { return maps.Equal(p.Settings, o.Settings) }
		if i := slices.IndexFunc(t.Rungs[round-1].Results, same); i >= 0 {
			before, after = append(before, float64(t.Rungs[round-1].Results[i].Mean)), append(after, float64(o.Mean))
		}
	}
	return stats.RankCorrelation(before, after), len(before)
}

// Ranks 1 to 4 against 2, 1, 4, 3 have a correlation of 1 - 6 x 4 / (4 x 15) = 0.6. A setting that one round lacks does
// not count.
func TestRankCorrelation(t *testing.T) {
	round := func(means ...float64) (r tune.Rung) {
		for i, m := range means {
			r.Results = append(r.Results, tune.Outcome{Settings: map[string]string{"n": fmt.Sprint(i)},
				Mean: stats.Float(m)})
		}
		return r
	}
	search := tune.Search{Rungs: []tune.Rung{round(10, 20, 30, 40, 50), round(7, 5, 9, 8)}}
	r, n := rankCorrelation(search, 1)
	toys.Near(t, "correlation", r, 0.6)
	if n != 4 {
		t.Errorf("%d settings, want 4", n)
	}
	search.Rungs[1] = round(7)
	if r, n := rankCorrelation(search, 1); !math.IsNaN(r) || n != 1 {
		t.Errorf("of one setting: %v of %d", r, n)
	}
}
