package layers_test

import (
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
	want := searchTable(rows)
	for _, set := range []string{"digits-300", "digits-1000", "segment-300"} {
		want += resultTable(rows, times, set)
	}
	want += comparison(rows, times) + freshTable(readLines[studyRow](studyFolder+"fresh.jsonl"))
	if *updatePage {
		must.M(os.WriteFile(studyFolder+"README.md", []byte(before+studyBegin+want+studyEnd+after), 0o644))
	} else if text != want {
		t.Errorf("the tables differ from the rows; the test writes them with -update:\n%s", want)
	}
}

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
		if r.Library == library && r.Set == set && r.Method == method && r.By == by {
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

func searchTable(rows []studyRow) string {
	out := "\n### The search\n\n*Mean joint NLL and mean marginal NLL of each value on the validation data, over the\n" +
		"seeds of the search. The smallest of each is chosen.*\n\n" +
		"| Method | hyper/layers | enn |\n| --- | --- | --- |\n"
	tried := func(library, method string) string {
		values := map[float64]bool{}
		for _, r := range rows {
			if r.Library == library && r.Set == "search" && r.Method == method {
				values[r.Value] = true
			}
		}
		var all []string
		for _, v := range slices.Sorted(maps.Keys(values)) {
			joint, _ := searched(rows, library, method, v, func(r studyRow) float64 { return r.Joint })
			single, _ := searched(rows, library, method, v, func(r studyRow) float64 { return r.Marginal })
			all = append(all, fmt.Sprintf("%g: %.3g, %.3g", v, joint, single))
		}
		return strings.Join(all, "; ")
	}
	for _, method := range append(slices.Clone(studyOrder), "full-linear-scaled") {
		out += fmt.Sprintf("| `%s` | %s | %s |\n", method, tried(ownLibrary, method), tried("enn", method))
	}
	return out
}

func resultTable(rows []studyRow, times []studyTime, set string) string {
	out := fmt.Sprintf("\n### %s\n\n| Method | Library | Seeds | Error | Marginal NLL | Joint NLL | Parameters | "+
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
				out += fmt.Sprintf("| %s | %s | %d |", name, library, len(parameters))
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
	out := "\n### hyper/layers beside enn\n\n*hyper/layers minus enn, and the ratio of the times of a step, over seeds " +
		"that both have. Below 0, or 1, is better.*\n\n| Set | Method | Error | Marginal NLL | Joint NLL | Time of a step |\n" +
		"| --- | --- | --- | --- | --- | --- |\n"
	counts := map[string]int{}
	out += compared(rows, times, "", 3, counts)
	out += fmt.Sprintf("\nQuality: %d better, %d worse, %d undecided. Time of a step: %d faster, %d slower, %d "+
		"undecided.\n", counts["better"], counts["worse"], counts["better?"], counts["faster"], counts["slower"],
		counts["faster?"])
	out += "\n*The same, with the values that the marginal NLL chose.*\n\n| Set | Method | Error | Marginal NLL |\n" +
		"| --- | --- | --- | --- |\n"
	clear(counts)
	out += compared(rows, nil, marginal, 2, counts)
	return out + fmt.Sprintf("\nQuality: %d better, %d worse, %d undecided.\n", counts["better"], counts["worse"],
		counts["better?"])
}

// freshTable returns the tables of the questions that are asked again with fresh seeds.
func freshTable(rows []studyRow) string {
	out := "\n### Fresh seeds\n\n*hyper/layers minus enn on segment-300, each over 40 seeds that have no part in the tables " +
		"above. The joint\nNLL chose the values, on digits or on segment.*\n\n| Seeds | Method | Value | enn | Error | " +
		"Marginal NLL | Joint NLL |\n| --- | --- | --- | --- | --- | --- | --- |\n"
	for _, line := range []struct {
		seeds      string
		first      int
		own, other string // methods
	}{
		{"11 to 50, values of digits", 11, "dropout", "dropout"},
		{"11 to 50, values of digits", 11, "full-linear", "full-linear"},
		{"51 to 90, values of segment", 51, "dropout", "dropout"},
		{"51 to 90, values of segment", 51, "full-linear", "full-linear"},
		{"91 to 130, haiku's start", 91, "dropout-start", "dropout"},
	} {
		part := slices.DeleteFunc(slices.Clone(rows), func(r studyRow) bool {
			return r.Seed < line.first || r.Seed >= line.first+40
		})
		pairs := func(of func(r studyRow) float64) (own, other []float64) {
			return inBoth(ofSeeds(part, ownLibrary, "segment-300", line.own, "", of),
				ofSeeds(part, "enn", "segment-300", line.other, "", of))
		}
		own, other := pairs(func(r studyRow) float64 { return r.Value })
		out += fmt.Sprintf("| %s | `%s` | %v | %v |%s\n", line.seeds, line.own, own[0], other[0],
			differences(pairs, len(studyMeasures), map[string]int{}))
	}
	return out + "\n"
}

// compared returns the lines of a table with some of studyMeasures, and with the ratio of times of a step if there are
// times.
func compared(rows []studyRow, times []studyTime, by string, measures int, counts map[string]int) (out string) {
	for _, set := range []string{"digits-300", "digits-1000", "segment-300"} {
		for _, method := range studyOrder {
			pairs := func(of func(r studyRow) float64) (own, other []float64) {
				chosen := func(library string) map[int]float64 {
					found := ofSeeds(rows, library, set, method, by, of)
					if len(found) == 0 { // both measures chose the same value
						found = ofSeeds(rows, library, set, method, "", of)
					}
					return found
				}
				return inBoth(chosen(ownLibrary), chosen("enn"))
			}
			if own, _ := pairs(studyMeasures[0].of); len(own) == 0 {
				continue
			}
			line := fmt.Sprintf("| %s | `%s` |", set, method) + differences(pairs, measures, counts)
			if len(times) > 0 {
				own, other := inBoth(steps(times, ownLibrary, set, method), steps(times, "enn", set, method))
				e := stats.RatioOfMeans(own, other)
				line += fmt.Sprintf(" %s, %s |", e, verdict(e, 1, "faster", "slower", counts))
			}
			out += line + "\n"
		}
	}
	return out
}

// differences returns the cells of a line: own minus other, for the first of studyMeasures.
func differences(pairs func(of func(r studyRow) float64) (own, other []float64), measures int,
	counts map[string]int) (cells string) {
	for _, m := range studyMeasures[:measures] {
		own, other := pairs(m.of)
		for i := range own {
			own[i] -= other[i]
		}
		e := stats.MeanDifference(own)
		cells += fmt.Sprintf(" %s, %s |", e, verdict(e, 0, "better", "worse", counts))
	}
	return cells
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
