package analysis

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Tradeoff is the cost of one period of an entry of results, with the entry's regret. It has the entry's place among
// all entries by each cost.
type Tradeoff struct {
	Agent        string         `json:"agent"`
	Settings     map[string]any `json:"settings"`
	Period       int            `json:"period"` // the last period that all entries have
	Runs         int            `json:"runs"`
	Regret       stats.Estimate `json:"regret"`          // mean of cumulative regret
	Operations   float64        `json:"operations"`      // per period, by the formula of section 4.1
	Micros       stats.Float    `json:"microseconds"`    // of one period of one run on one core; NaN if not measured
	Bytes        int64          `json:"bytes,omitempty"` // of a run in a call, see [lab.Clock.CallBytes]; 0 if not known
	ByOperations Place          `json:"place_by_operations"`
	ByTime       Place          `json:"place_by_time,omitempty"` // empty if a time was not measured
}

// FindTradeoff returns the tradeoff that has the agent and the settings of an entry, if there is one.
func FindTradeoff(all []Tradeoff, e lab.Entry) (Tradeoff, bool) {
	settings := catalog.Values(e.Setting)
	at := slices.IndexFunc(all, func(o Tradeoff) bool { return o.Agent == e.Agent && sameSettings(o.Settings, settings) })
	if at < 0 {
		return Tradeoff{}, false
	}
	return all[at], true
}

// sameSettings reports whether an entry has the settings of a tradeoff. A tradeoff that is older than a key lacks it; the
// entry must then have no as its value.
func sameSettings(tradeoff, entry map[string]any) bool {
	then := maps.Clone(tradeoff)
	for key := range entry {
		if _, ok := then[key]; !ok {
			then[key] = "no"
		}
	}
	a, _ := json.Marshal(then)
	b, _ := json.Marshal(entry)
	return bytes.Equal(a, b)
}

// Tradeoffs returns one Tradeoff for each entry, in the order of the entries. micros holds the microseconds of each
// entry: the time of one period of one run on one core. It may be nil, and its elements NaN, if times were not
// measured. The error wraps ErrNoRows if an entry has no rows.
func Tradeoffs(h lab.Header, rows []lab.Row, micros []float64) ([]Tradeoff, error) {
	all, err := Summarize(h, rows)
	if err != nil {
		return nil, err
	}
	if micros == nil {
		micros = slices.Repeat([]float64{math.NaN()}, len(all))
	}
	if len(micros) != len(all) {
		return nil, fmt.Errorf("got %d times of a period for %d agents; give one time for each "+
			"agent", len(micros), len(all))
	}
	out, operations := make([]Tradeoff, len(all)), make([]float64, len(all))
	for i, c := range Curves(h, rows) {
		regret, period := c.Final()
		operations[i] = all[i].Computation
		out[i] = Tradeoff{Agent: c.Agent, Settings: c.Settings, Period: period, Runs: c.Runs, Regret: regret,
			Operations: operations[i], Micros: stats.Float(micros[i])}
	}
	byOperations, err := frontier(rows, operations)
	if err != nil {
		return nil, err
	}
	byTime := make([]Place, len(out))
	if !slices.ContainsFunc(micros, math.IsNaN) {
		if byTime, err = frontier(rows, micros); err != nil {
			return nil, err
		}
	}
	for i := range out {
		out[i].ByOperations, out[i].ByTime = byOperations[i], byTime[i]
	}
	return out, nil
}

// Place says whether an entry has less regret than the entries that cost no more.
type Place string

// The places relative to the frontier of regret against cost.
const (
	OnFrontier  Place = "on the frontier"  // all entries that cost no more have more regret
	OffFrontier Place = "off the frontier" // an entry that costs no more has less regret
	Unplaced    Place = "undecided"        // neither is certain
)

// frontier returns the places of entries by the cost of each. It compares mean regrets in pairs, over the same seeds,
// with Holm's correction over all pairs. The error wraps ErrNoRows if a pair has no common rows.
func frontier(rows []lab.Row, costs []float64) ([]Place, error) {
	type pair struct{ a, b int }
	less := map[pair]bool{} // whether the first entry certainly has less regret
	var pairs []pair        // pairs with a p-value: first the entry with less regret
	var p []float64
	for a := range costs {
		for b := range a {
			d, err := PairedDifference(rows, a, b)
			if err != nil {
				return nil, err
			}
			at := pair{a, b}
			if d.Ratio.Value > 1 {
				at = pair{b, a}
			}
			if x := d.Ratio.PValue(1); !math.IsNaN(x) {
				pairs, p = append(pairs, at), append(p, x)
			} else { // the regret of an entry is 0, or there is a single run
				less[at] = d.Ratio.Upper < 1 || d.Ratio.Lower > 1
			}
		}
	}
	corrected, _ := stats.Holm(p)
	for i, at := range pairs {
		less[at] = corrected[i] < 1-stats.Level
	}
	out := make([]Place, len(costs))
	for i := range costs {
		out[i] = OnFrontier
		for j := range costs {
			switch {
			case j == i || costs[j] > costs[i]:
			case less[pair{j, i}]:
				out[i] = OffFrontier
			case !less[pair{i, j}] && out[i] == OnFrontier:
				out[i] = Unplaced
			}
		}
	}
	return out, nil
}
