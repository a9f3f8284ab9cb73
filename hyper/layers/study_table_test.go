package layers_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

var updatePage = flag.Bool("update", false, "write the tables of the study into its page")

const (
	studyFolder = "../../notebooks/results/layers/"
	studyBegin  = "<!-- tables: go test ./hyper/layers -run TestStudyTable -update -->\n"
	studyEnd    = "<!-- end of tables -->"
)

// The tables on the page of the study equal its rows.
func TestStudyTable(t *testing.T) {
	rows, times := readLines[studyRow](studyFolder+"rows.jsonl"), readLines[studyTime](studyFolder+"times.jsonl")
	page := string(must.M1(os.ReadFile(studyFolder + "README.md")))
	before, rest, ok := strings.Cut(page, studyBegin)
	text, after, ok2 := strings.Cut(rest, studyEnd)
	if !ok || !ok2 {
		t.Fatalf("the page has no %q", studyBegin)
	}
	want := comparison(rows, times) + againTable(rows, readLines[studyRow](studyFolder+"again.jsonl"))
	for _, set := range studyOrderOfSets {
		want += resultTable(rows, times, set)
	}
	if *updatePage {
		must.M(os.WriteFile(studyFolder+"README.md", []byte(before+studyBegin+want+studyEnd+after), 0o644))
	} else if text != want {
		t.Errorf("the tables differ from the rows; the test writes them with -update:\n%s", want)
	}
}

var studyOrderOfSets = []string{"digits-300", "digits-1000", "segment-300"}

// marginal is the other measure that chooses values.
const marginal = "marginal"

// studyMeasures are the numbers of a row that libraries are compared by; smaller is better.
var studyMeasures = []struct {
	name string
	of   func(r studyRow) float64
}{
	{"error", func(r studyRow) float64 { return r.Error }},
	{"marginal NLL", func(r studyRow) float64 { return r.Marginal }},
	{"joint NLL", func(r studyRow) float64 { return r.Joint }},
}

// ofSeeds returns the numbers of a method of a library on a set, by seed. by is the measure that chose the method's
// value, as in a studyCell.
func ofSeeds(rows []studyRow, library, set, method, by string, of func(r studyRow) float64) map[int]float64 {
	found := map[int]float64{}
	for _, r := range rows {
		if !r.Search && r.Library == library && r.Set == set && r.Method == method && r.By == by {
			found[r.Seed] = of(r)
		}
	}
	return found
}

// studyTime is the time of a training step, in microseconds on processors, in each round of a process.
type studyTime struct {
	Library, Set, Method string
	Seed                 int
	Rounds               []float64 `json:"rounds_us"`
}

// steps returns the mean times of a step of a method of a library on a set, by seed.
func steps(times []studyTime, library, set, method string) map[int]float64 {
	found := map[int]float64{}
	for _, t := range times {
		if t.Library == library && t.Set == set && t.Method == method {
			for _, us := range t.Rounds {
				found[t.Seed] += us / float64(len(t.Rounds))
			}
		}
	}
	return found
}

// bySeed returns the numbers in the order of their seeds.
func bySeed(numbers map[int]float64) (all []float64) {
	for _, seed := range slices.Sorted(maps.Keys(numbers)) {
		all = append(all, numbers[seed])
	}
	return all
}

// inBoth returns the numbers of the seeds that a and b have, in the order of the seeds.
func inBoth(a, b map[int]float64) (ofA, ofB []float64) {
	for _, seed := range slices.Sorted(maps.Keys(a)) {
		if v, ok := b[seed]; ok {
			ofA, ofB = append(ofA, a[seed]), append(ofB, v)
		}
	}
	return ofA, ofB
}

func resultTable(rows []studyRow, times []studyTime, set string) string {
	out := fmt.Sprintf("\n### %s\n\n| Method | Library | Value | Error | Marginal NLL | Joint NLL | Parameters | "+
		"Microseconds a step |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n", set)
	for _, method := range studyOrder {
		for _, by := range []string{"", marginal} {
			for _, library := range []string{ownLibrary, "enn"} {
				numbers := func(of func(r studyRow) float64) []float64 {
					return bySeed(ofSeeds(rows, library, set, method, by, of))
				}
				parameters := numbers(func(r studyRow) float64 { return float64(r.Parameters) })
				if len(parameters) == 0 {
					continue
				}
				name, time := "`"+method+"`", stats.MeanDifference(bySeed(steps(times, library, set, method))).String()
				if by != "" { // a step takes the same time
					name, time = name+", by marginal NLL", ""
				}
				out += fmt.Sprintf("| %s | %s | %v |", name, library, numbers(func(r studyRow) float64 { return r.Value })[0])
				for _, m := range studyMeasures {
					out += fmt.Sprintf(" %s |", stats.MeanDifference(numbers(m.of)))
				}
				out += fmt.Sprintf(" %.0f | %s |\n", parameters[0], time)
			}
		}
	}
	return out
}

// comparison returns the tables that answer the protocol's questions: hyper/layers minus enn, and the ratio of times,
// over the seeds of both.
func comparison(rows []studyRow, times []studyTime) string {
	out := "\n### hyper/layers beside enn\n\n*hyper/layers minus enn, and the ratio of the times of a step, with the values " +
		"that the joint NLL chose.\nBelow 0, or 1, is better.*\n\n| Set | Method | Error | Marginal NLL | Joint NLL | Time of a " +
		"step |\n| --- | --- | --- | --- | --- | --- |\n"
	counts := map[string]int{}
	for _, q := range questions(rows, "") {
		own, other := inBoth(steps(times, ownLibrary, q.set, q.method), steps(times, "enn", q.set, q.method))
		e := stats.RatioOfMeans(own, other)
		out += q.line(rows, q.measures(), counts) + fmt.Sprintf(" %s, %s |\n", e, verdict(e, 1, "faster", "slower", counts))
	}
	out += fmt.Sprintf("\nQuality: %d better, %d worse, %d undecided. Time of a step: %d faster, %d slower, %d "+
		"undecided.\n", counts["better"], counts["worse"], counts["better?"], counts["faster"], counts["slower"],
		counts["faster?"])
	out += "\n*The same, with the values that the marginal NLL chose.*\n\n| Set | Method | Error | Marginal NLL |\n" +
		"| --- | --- | --- | --- |\n"
	clear(counts)
	for _, q := range questions(rows, marginal) {
		out += q.line(rows, q.measures(), counts) + "\n"
	}
	return out + fmt.Sprintf("\nQuality: %d better, %d worse, %d undecided.\n", counts["better"], counts["worse"],
		counts["better?"])
}

// question is a comparison of a method on a set. By is the measure that chose the values, as in a studyCell.
type question struct{ set, method, by string }

// questions returns the comparisons of a measure for which both libraries have rows.
func questions(rows []studyRow, by string) (all []question) {
	for _, set := range studyOrderOfSets {
		for _, method := range studyOrder {
			q := question{set, method, by}
			if own, _ := q.pairs(rows, studyMeasures[0].of); len(own) > 0 {
				all = append(all, q)
			}
		}
	}
	return all
}

// pairs returns the numbers of both libraries, for the seeds that both have.
func (q question) pairs(rows []studyRow, of func(r studyRow) float64) (own, other []float64) {
	chosen := func(library string) map[int]float64 {
		found := ofSeeds(rows, library, q.set, q.method, q.by, of)
		if len(found) == 0 { // both measures chose the same value
			found = ofSeeds(rows, library, q.set, q.method, "", of)
		}
		return found
	}
	return inBoth(chosen(ownLibrary), chosen("enn"))
}

// difference returns hyper/layers minus enn.
func (q question) difference(rows []studyRow, of func(r studyRow) float64) stats.Estimate {
	own, other := q.pairs(rows, of)
	for i := range own {
		own[i] -= other[i]
	}
	return stats.MeanDifference(own)
}

// line returns the line of a table, with the differences of the first of studyMeasures.
func (q question) line(rows []studyRow, measures int, counts map[string]int) string {
	line := fmt.Sprintf("| %s | `%s` |", q.set, q.method)
	for _, m := range studyMeasures[:measures] {
		e := q.difference(rows, m.of)
		line += fmt.Sprintf(" %s, %s |", e, verdict(e, 0, "better", "worse", counts))
	}
	return line
}

// worse returns the comparisons in which a number of hyper/layers is worse.
func worse(rows []studyRow) (all []question) {
	for _, by := range []string{"", marginal} {
		for _, q := range questions(rows, by) {
			counts := map[string]int{}
			q.line(rows, q.measures(), counts)
			if counts["worse"] > 0 {
				all = append(all, q)
			}
		}
	}
	return all
}

// measures returns the number of studyMeasures that a question compares.
func (q question) measures() int {
	if q.by == marginal {
		return 2
	}
	return 3
}

// againTable returns the table of the comparisons that more seeds ask again.
func againTable(rows, again []studyRow) string {
	out := "\n### More seeds\n\n*The comparisons with a number that is worse in the tables above, over 40 seeds that have no " +
		"part in them.*\n\n| Set | Method | Chosen by | Error | Marginal NLL | Joint NLL |\n" +
		"| --- | --- | --- | --- | --- | --- |\n"
	for _, q := range worse(rows) {
		out += fmt.Sprintf("| %s | `%s` | %s NLL |", q.set, q.method, cmp.Or(q.by, "joint"))
		for i, m := range studyMeasures {
			e := q.difference(again, m.of)
			out += fmt.Sprintf(" %s, %s", e, verdict(e, 0, "better", "worse", map[string]int{}))
			if i < q.measures() && q.difference(rows, m.of).Lower > 0 {
				out += " (asked)"
			}
			out += " |"
		}
		out += "\n"
	}
	return out
}

// verdict says on which side of a bound an interval is.
func verdict(e stats.Estimate, bound float64, below, above string, counts map[string]int) string {
	switch {
	case float64(e.Upper) < bound:
		counts[below]++
		return "**" + below + "**"
	case float64(e.Lower) > bound:
		counts[above]++
		return "**" + above + "**"
	}
	counts[below+"?"]++
	return "undecided"
}
