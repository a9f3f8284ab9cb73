package agent

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
)

var allChanges = flag.Bool("change.all", false, "alarms of four data sets: some 6 minutes")

// TestChangeOfRows classifies rows; the agent only learns whether a guess was right. Rows in a random order have no
// change, and the number of alarms fits a Poisson distribution with one alarm in Run data. With other labels from the
// middle on there is a true change, which the test finds. The quick test uses three orders of phishing; -change.all
// uses all included data sets and takes about 6 minutes.
func TestChangeOfRows(t *testing.T) {
	NotInShort(t)
	orders := map[string]int{"phishing": 3}
	if *allChanges {
		orders = map[string]int{"phishing": 30, "segment": 12, "digits": 12, "shuttle": 8}
	}
	const run, mostRows = 10_000, 6000
	for _, set := range sheet.Sets() {
		x, class := contexts(must.M1(sheet.Set(set)))
		rows, alarms := 0, 0
		var delays []int
		for order := range orders[set] {
			perm := rand.New(rand.NewPCG(uint64(order), 1)).Perm(len(x))
			perm = perm[:min(len(perm), mostRows)]
			found := alarmsOf(t, uint64(order), x, class, perm, len(perm))
			rows, alarms = rows+len(perm), alarms+len(found)
			half, delay := len(perm)/2, len(perm)
			if found := alarmsOf(t, uint64(order), x, class, perm, half); len(found) > 0 && found[len(found)-1] > half {
				delay = found[len(found)-1] - half
			}
			delays = append(delays, delay)
		}
		if rows == 0 {
			continue
		}
		slices.Sort(delays)
		median, slow := delays[len(delays)/2], delays[len(delays)*9/10]
		t.Logf("%s: %d alarms in %d rewards, %.1f expected at most; after a change delays of %d, in nine of ten at most %d, "+
			"at most %d", set, alarms, rows, float64(rows)/run, median, slow, delays[len(delays)-1])
		if mean := float64(rows) / run; alarms > 0 && (distuv.Poisson{Lambda: mean}).Survival(float64(alarms-1)) < 0.001 {
			t.Errorf("%s: got %d alarms, want about %.1f at most", set, alarms, mean)
		}
		if slow > 20 {
			t.Errorf("%s: the change is found after %v rewards, want at most 20 in nine of ten", set, delays)
		}
	}
}

// alarmsOf returns the data, counted from 1, of the alarms of an agent that guesses the classes of rows in an order.
// From a place in the order on, each label is replaced by the next one, and the first alarm there ends the run.
func alarmsOf(t *testing.T, seed uint64, x [][]float32, class []int, order []int, from int) (at []int) {
	t.Helper()
	arms := slices.Max(class) + 1
	a := must.M1(New(Config{Seed: seed, Change: &Change{}}.Contextual(arms, len(x[0]))))
	defer a.Close()
	for n, row := range order {
		label := class[row]
		if n >= from {
			label = (label + 1) % arms
		}
		d, reward := must.M1(a.Decide(t.Context(), Menu{Context: x[row]})), float32(0)
		if d.Action == label {
			reward = 1
		}
		must.M(a.Observe(t.Context(), Feedback{ID: d.ID, Reward: reward}))
		if found := a.Alarms(); found.Count > len(at) {
			at = append(at, found.Last)
			if n >= from {
				break
			}
		}
	}
	return at
}
