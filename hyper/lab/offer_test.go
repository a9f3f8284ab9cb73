package lab

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// An offer is on the frontier when it has certainly less regret than all that cost no more, off it when one of them has
// certainly less, and else undecided. What costs more does not count. The cheapest is always on the frontier.
func TestFrontier(t *testing.T) {
	rows := regretsOf(100, 101, 99, 100, 102, 98)              // 0
	rows = append(rows, regretsOf(80, 82, 79, 81, 80, 78)...)  // 1: less than 0
	rows = append(rows, regretsOf(81, 79, 80, 82, 78, 80)...)  // 2: like 1
	rows = append(rows, regretsOf(90, 92, 89, 91, 90, 88)...)  // 3: between 0 and 1
	rows = append(rows, regretsOf(70, 300, 69, 71, 70, 70)...) // 4: who knows
	numbered(rows, 6)
	for _, c := range []struct {
		costs []float64
		want  string
	}{
		{[]float64{1, 2, 3, 4, 5}, "[on the frontier on the frontier undecided off the frontier undecided]"},
		{[]float64{5, 4, 3, 2, 1}, "[off the frontier undecided undecided undecided on the frontier]"},
		{[]float64{1, 1, 1, 1, 1}, "[off the frontier undecided undecided off the frontier undecided]"},
	} {
		places, err := Frontier(rows, c.costs)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(places); got != c.want {
			t.Errorf("costs %v: %s, want %s", c.costs, got, c.want)
		}
	}
	if _, err := Frontier(rows, []float64{1, 2, 3, 4, 5, 6}); !errors.Is(err, ErrNoRows) {
		t.Errorf("of an entry without rows: error %v, want ErrNoRows", err)
	}

	offers, err := Offers(toyHeader(5), rows)
	if err != nil {
		t.Fatal(err)
	}
	if o := offers[1]; o.Regret.Value != 80 || o.Runs != 6 || o.Operations != 300 || !math.IsNaN(float64(o.Micros)) {
		t.Errorf("offer %+v", o)
	}
}

// regretsOf are the last rows of runs.
func regretsOf(regrets ...float64) (rows []Row) {
	for i, r := range regrets {
		rows = append(rows, Row{Period: 100, Seed: uint64(i), Regret: Float(r)})
	}
	return rows
}

// numbered gives the rows of entries with some runs each their numbers.
func numbered(rows []Row, runs int) {
	for i := range rows {
		rows[i].Entry = i / runs
	}
}
