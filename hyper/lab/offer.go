package lab

import "math"

// Offer is what an entry of results costs a period, and the regret that it has for that.
type Offer struct {
	Agent      string         `json:"agent"`
	Settings   map[string]any `json:"settings"`
	Period     int            `json:"period"` // the last that all offers have
	Runs       int            `json:"runs"`
	Regret     Estimate       `json:"regret"`       // mean of cumulative regret
	Operations float64        `json:"operations"`   // of a period, by the formula of section 4.1
	Micros     Float          `json:"microseconds"` // of a run-period on one core; NaN where it was not measured
}

// Offers returns one Offer for each entry, in their order, without times.
func Offers(h Header, rows []Row) ([]Offer, error) {
	all, err := Summarize(h, rows)
	if err != nil {
		return nil, err
	}
	out := make([]Offer, len(all))
	for i, c := range Curves(h, rows) {
		regret, period := c.Final()
		out[i] = Offer{Agent: c.Agent, Settings: c.Settings, Period: period, Runs: c.Runs, Regret: regret,
			Operations: all[i].Computation, Micros: Float(math.NaN())}
	}
	return out, nil
}

// Place is where an offer stands among those that cost no more.
type Place string

// Places on the frontier of regret against cost.
const (
	OnFrontier Place = "on the frontier"  // all that cost no more have more regret
	OffIt      Place = "off the frontier" // one that costs no more has less regret
	OpenPlace  Place = "undecided"        // neither is certain
)

// Frontier places entries by what each costs: their mean regrets are compared in pairs, over the same seeds, with Holm's
// correction over all pairs. The error wraps ErrNoRows where a pair has none.
func Frontier(rows []Row, costs []float64) ([]Place, error) {
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
	less := map[pair]bool{} // the first has less regret, for certain
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
