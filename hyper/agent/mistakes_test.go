package agent

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
)

var allMistakes = flag.Bool("mistakes.all", false, "four data sets, five orders each: some six minutes")

// Classification, where the agent only learns whether a guess was right: over one pass through each of four data sets,
// the agent that [Contextual] returns makes fewer mistakes than Vowpal Wabbit with its best of 51 settings, found in
// hindsight, and than MABWiser's LinUCB. The bounds are the fewer mistakes of both. The mean is over five orders of the
// rows; the quick test has three orders of phishing. The agent's settings were chosen on other data, except for the
// distance at which an outlier is cut: notebooks/results/contextual.
func TestFewMistakes(t *testing.T) {
	NotInShort(t)
	sets, orders := []string{"phishing"}, 3
	if *allMistakes {
		sets, orders = sheet.Sets(), 5
	}
	bounds := map[string]float64{"shuttle": 193, "phishing": 136, "segment": 271, "digits": 323}
	for _, name := range sets {
		x, class := contexts(must.M1(sheet.Set(name)))
		var all []int
		sum := 0.0
		for order := range orders {
			n := mistakes(t, x, class, uint64(order))
			all, sum = append(all, n), sum+float64(n)
		}
		mean := sum / float64(orders)
		t.Logf("%s, %d rows: %v mistakes, mean %.1f, peers %v", name, len(x), all, mean, bounds[name])
		if mean >= bounds[name] {
			t.Errorf("%s: got %.1f mistakes, want fewer than %v", name, mean, bounds[name])
		}
	}
}

// contexts returns all columns but the last, and the class in the last column as an index among its values.
func contexts(s *sheet.Sheet) (x [][]float32, class []int) {
	last := len(s.Header) - 1
	var values []string
	for _, row := range s.Rows {
		if !slices.Contains(values, row[last]) {
			values = append(values, row[last])
		}
	}
	slices.Sort(values)
	for _, row := range s.Rows {
		numbers := make([]float32, last)
		for i := range numbers {
			numbers[i] = float32(must.M1(strconv.ParseFloat(row[i], 32)))
		}
		x, class = append(x, numbers), append(class, slices.Index(values, row[last]))
	}
	return x, class
}

// mistakes returns the number of wrong guesses of an agent over all rows, in an order that depends on the seed.
func mistakes(t *testing.T, x [][]float32, class []int, seed uint64) (wrong int) {
	t.Helper()
	order := rand.New(rand.NewPCG(seed, 1)).Perm(len(x))
	return wrongGuesses(t, Config{Seed: seed, Floor: -1}.Contextual(slices.Max(class)+1, len(x[0])), x, class, order)
}

// wrongGuesses returns the number of wrong guesses of the agent of Contextual with some options, over rows in order.
func wrongGuesses(t *testing.T, c Config, x [][]float32, class, rows []int) (wrong int) {
	t.Helper()
	a := must.M1(New(c))
	defer a.Close()
	for _, i := range rows {
		d := must.M1(a.Decide(t.Context(), Menu{Context: x[i]}))
		reward := float32(0)
		if d.Action == class[i] {
			reward = 1
		} else {
			wrong++
		}
		must.M(a.Observe(t.Context(), Feedback{ID: d.ID, Reward: reward}))
	}
	return wrong
}
