package plot

import (
	"slices"
	"testing"

	gonum "gonum.org/v1/plot"
)

func tickLabels(t gonum.Ticker, low, high float64) (out []string) {
	for _, tick := range t.Ticks(low, high) {
		if !tick.IsMinor() {
			out = append(out, tick.Label)
		}
	}
	return out
}

func TestTicks(t *testing.T) {
	for name, c := range map[string]struct {
		ticker    gonum.Ticker
		low, high float64
		want      []string
	}{
		"thousands":       {linearTicks{}, 0, 10_000, []string{"0", "2,000", "4,000", "6,000", "8,000", "10,000"}},
		"millions":        {linearTicks{}, 0, 2e6, []string{"0", "500,000", "1,000,000", "1,500,000", "2,000,000"}},
		"signs":           {linearTicks{}, -3, 3, []string{"−3", "−2", "−1", "0", "1", "2", "3"}},
		"decimals":        {linearTicks{}, 0.04, 0.31, []string{"0.05", "0.10", "0.15", "0.20", "0.25", "0.30"}},
		"large":           {linearTicks{}, 0, 2e9, []string{"0", "5e8", "1e9", "1.5e9", "2e9"}},
		"small":           {linearTicks{}, -1e-6, 1e-6, []string{"−1e−6", "−5e−7", "0", "5e−7", "1e−6"}},
		"empty":           {linearTicks{}, 1, 1, nil},
		"of rounding":     {linearTicks{}, 0.3, 0.30000000000000004, nil},
		"large and near":  {linearTicks{steps: 2}, 12_340_000, 12_342_000, []string{"1.234e7", "1.2341e7", "1.2342e7"}},
		"few":             {linearTicks{steps: 4}, 0, 300, []string{"0", "100", "200", "300"}},
		"fewest":          {linearTicks{steps: 4}, 0, 1000, []string{"0", "500", "1,000"}},
		"decades":         {logTicks{}, 0.004, 20_000, []string{"0.01", "0.1", "1", "10", "100", "1,000", "10,000"}},
		"two and five":    {logTicks{}, 1, 50, []string{"1", "2", "5", "10", "20", "50"}},
		"within a decade": {logTicks{}, 0.25, 0.95, []string{"0.3", "0.4", "0.5", "0.7"}},
		"around one":      {logTicks{}, 0.28, 1.9, []string{"0.3", "0.4", "0.5", "0.7", "1", "1.5"}},
		"around fifteen":  {logTicks{}, 8, 30, []string{"10", "15", "20", "30"}},
		"narrow": {logTicks{}, 1.02, 1.09, []string{"1.02", "1.03", "1.04", "1.05", "1.06", "1.07", "1.08",
			"1.09"}},
		"many decades": {logTicks{}, 1e-6, 1e6, []string{"1e−6", "0.0001", "0.01", "1", "100", "10,000",
			"1,000,000"}},
		"beyond a million": {logTicks{}, 5e4, 2e8, []string{"1e5", "1e6", "1e7", "1e8"}},
		"not for a log":    {logTicks{}, 0, 10, nil},
		"exactly a decade": {logTicks{}, 1, 10, []string{"1", "2", "5", "10"}},
	} {
		if got := tickLabels(c.ticker, c.low, c.high); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestLogTicksMarkMultiples(t *testing.T) {
	var minor []float64
	for _, tick := range (logTicks{}).Ticks(1, 1000) {
		if tick.IsMinor() && tick.Value < 10 {
			minor = append(minor, tick.Value)
		}
	}
	if want := []float64{2, 3, 4, 5, 6, 7, 8, 9}; !slices.Equal(minor, want) {
		t.Errorf("got %v, want %v", minor, want)
	}
}
