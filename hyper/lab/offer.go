package lab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/catalog"
)

// Offer is the cost of one period of an entry of results, with the entry's regret, and the entry's place among all
// entries by each cost.
type Offer struct {
	Agent        string         `json:"agent"`
	Settings     map[string]any `json:"settings"`
	Period       int            `json:"period"` // the last period that all offers have
	Runs         int            `json:"runs"`
	Regret       Estimate       `json:"regret"`          // mean of cumulative regret
	Operations   float64        `json:"operations"`      // per period, by the formula of section 4.1
	Micros       Float          `json:"microseconds"`    // of one period of one run on one core; NaN if not measured
	Bytes        int64          `json:"bytes,omitempty"` // of a run in a call, see [Clock.Call]; 0 if not known
	ByOperations Place          `json:"place_by_operations"`
	ByTime       Place          `json:"place_by_time,omitempty"` // empty if a time was not measured
}

// Measured returns the offer that has the agent and the settings of an entry, if there is one.
func Measured(offers []Offer, e Entry) (Offer, bool) {
	settings, _ := json.Marshal(catalog.Values(e.Setting))
	at := slices.IndexFunc(offers, func(o Offer) bool {
		theirs, _ := json.Marshal(o.Settings)
		return o.Agent == e.Agent && bytes.Equal(theirs, settings)
	})
	if at < 0 {
		return Offer{}, false
	}
	return offers[at], true
}

// Offers returns one Offer for each entry, in the order of the entries. micros holds the microseconds of each entry:
// the time of one period of one run on one core. It may be nil, and its elements NaN, if times were not measured. The
// error wraps ErrNoRows if an entry has no rows.
func Offers(h Header, rows []Row, micros []float64) ([]Offer, error) {
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
	out, operations := make([]Offer, len(all)), make([]float64, len(all))
	for i, c := range Curves(h, rows) {
		regret, period := c.Final()
		operations[i] = all[i].Computation
		out[i] = Offer{Agent: c.Agent, Settings: c.Settings, Period: period, Runs: c.Runs, Regret: regret,
			Operations: operations[i], Micros: Float(micros[i])}
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

// Place is the position of an offer among the offers that cost no more.
type Place string

// The places relative to the frontier of regret against cost.
const (
	OnFrontier Place = "on the frontier"  // all offers that cost no more have more regret
	OffIt      Place = "off the frontier" // an offer that costs no more has less regret
	OpenPlace  Place = "undecided"        // neither is certain
)

// frontier returns the places of entries by the cost of each. It compares mean regrets in pairs, over the same seeds,
// with Holm's correction over all pairs. The error wraps ErrNoRows if a pair has no common rows.
func frontier(rows []Row, costs []float64) ([]Place, error) {
	type pair struct{ a, b int }
	var pairs []pair
	var findings []Finding
	for a := range costs {
		for b := range a {
			d, err := PairedDifference(rows, a, b)
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, pair{a, b})
			findings = append(findings, Below("", d.Ratio, 1, d.Period, d.Pairs))
		}
	}
	less := map[pair]bool{} // whether the first entry certainly has less regret
	for i, f := range Holm(findings) {
		p := pairs[i]
		less[p], less[pair{p.b, p.a}] = f.Verdict == Reproduced, f.Verdict == Refuted
	}
	out := make([]Place, len(costs))
	for i := range costs {
		out[i] = OnFrontier
		for j := range costs {
			switch {
			case j == i || costs[j] > costs[i]:
			case less[pair{j, i}]:
				out[i] = OffIt
			case !less[pair{i, j}] && out[i] == OnFrontier:
				out[i] = OpenPlace
			}
		}
	}
	return out, nil
}
