package agent

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/bandit/sheet"
)

var (
	lineRows   = flag.String("line.rows", "", "folder of sets.py of notebooks/results/contextual: its sets and our own")
	lineOut    = flag.String("line.out", "", "file for the mistakes on the sets of line.rows, JSON")
	lineOrders = flag.Int("line.orders", 5, "orders of the rows")
	lineMost   = flag.Int("line.most", 10_000, "sets of more rows are left out")
)

// hashed returns the order of n rows by the hashes of a seed and the row, as in peers.py.
func hashed(n, seed int) []int {
	type row struct {
		key string
		at  int
	}
	rows := make([]row, n)
	for i := range rows {
		rows[i] = row{fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%d:%d", seed, i))), i}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.key, b.key) })
	order := make([]int, n)
	for i, r := range rows {
		order[i] = r.at
	}
	return order
}

// lineAgents has the agent of Contextual, and agents with one of its two models alone.
var lineAgents = map[string]func(c Config, k, context int) Config{
	"both":    Config.Contextual,
	"cosines": cosinesAlone,
	"line": func(c Config, k, context int) Config {
		c.Waves = None
		return c.Contextual(k, context)
	},
}

// cosinesAlone is Contextual without the line beside the cosines.
func cosinesAlone(c Config, k, context int) Config {
	c = c.Contextual(k, context)
	b := c.Learner.Belief.(hyper.BayesianLinear)
	b.Line = false
	c.Learner.Belief = b
	return c
}

// lineMistakes returns the numbers of mistakes of the agents in some orders of rows.
func lineMistakes(t *testing.T, x [][]float32, class []int, orders int) map[string][]int {
	t.Helper()
	out := map[string][]int{}
	for name, of := range lineAgents {
		for seed := range orders {
			c := of(Config{Seed: uint64(seed), Floor: -1}, slices.Max(class)+1, len(x[0]))
			out[name] = append(out[name], wrongGuesses(t, c, x, class, hashed(len(x), seed)))
		}
	}
	return out
}

func meanOf(x []int) (mean float64) {
	for _, v := range x {
		mean += float64(v) / float64(len(x))
	}
	return mean
}

// The agent with a line beside cosines makes about as few mistakes as the better model alone, both where a line fits
// and where no line fits. The other model alone makes many more. With line.rows the agents classify data sets, and the
// test writes line.out.
func TestLineBesideCosines(t *testing.T) {
	NotInShort(t)
	if *lineRows != "" {
		lineOfSets(t)
		return
	}
	r := rand.New(rand.NewPCG(1, 2))
	const rows, d = 400, 12
	x, sides, rings := make([][]float32, rows), make([]int, rows), make([]int, rows)
	for i := range x {
		var sum, norm2 float64
		for j := range d {
			v := r.NormFloat64()
			x[i] = append(x[i], float32(v))
			if sum += v; j < 2 {
				norm2 += v * v
			}
		}
		if sum > 0 {
			sides[i] = 1
		}
		if norm2 > 2*math.Ln2 {
			rings[i] = 1
		}
	}
	plane := make([][]float32, rows)
	for i := range x {
		plane[i] = x[i][:2]
	}
	for name, c := range map[string]struct {
		x             [][]float32
		class         []int
		better, worse string
	}{"line": {x, sides, "line", "cosines"}, "ring": {plane, rings, "cosines", "line"}} {
		n := lineMistakes(t, c.x, c.class, 3)
		both, better, worse := meanOf(n["both"]), meanOf(n[c.better]), meanOf(n[c.worse])
		t.Logf("%s: both %v, line %v, cosines %v", name, n["both"], n["line"], n["cosines"])
		if both > 1.15*better+1 || worse < 1.2*better {
			t.Errorf("%s: got %.1f mistakes; the better model alone makes %.1f, the other one %.1f",
				name, both, better, worse)
		}
	}
}

// lineOfSets writes the mistakes on data sets.
func lineOfSets(t *testing.T) {
	type table struct {
		name string
		of   *sheet.Sheet
	}
	var all []table
	for _, name := range sheet.Sets() {
		all = append(all, table{name, must.M1(sheet.Set(name))})
	}
	for _, path := range must.M1(filepath.Glob(filepath.Join(*lineRows, "*", "*.csv"))) {
		s := must.M1(sheet.Read(path))
		all = append(all, table{strings.TrimSuffix(filepath.Base(path), ".csv"), s})
	}
	out := map[string]map[string][]int{}
	for _, s := range all {
		x, class := contexts(s.of)
		if len(x) > *lineMost {
			continue
		}
		out[s.name] = lineMistakes(t, x, class, *lineOrders)
		t.Logf("%s, %d rows: both %.1f, line %.1f, cosines %.1f", s.name, len(x), meanOf(out[s.name]["both"]),
			meanOf(out[s.name]["line"]), meanOf(out[s.name]["cosines"]))
		if *lineOut != "" {
			must.M(os.WriteFile(*lineOut, append(must.M1(json.Marshal(out)), '\n'), 0o644))
		}
	}
}

// An agent learns from a feature that is a time in seconds, without standardisation. Rounding loses the evidence of its
// first datum.
func TestLargeFeature(t *testing.T) {
	for _, on := range []string{"host", "program"} {
		c := Config{Backend: backend.Go}
		if on == "program" {
			c.Learner.Policy = cautious{}
		}
		c = c.Contextual(2, 1)
		c.Encoding.Standardize = false
		a := must.M1(New(c))
		for i := range 6 {
			d := must.M1(a.Decide(t.Context(), Menu{Context: []float32{1.7e9 + float32(i)*1e5}}))
			if err := a.Observe(t.Context(), Feedback{ID: d.ID, Reward: float32(i % 2)}); err != nil {
				t.Errorf("%s, reward %d: %v", on, i, err)
			}
		}
		a.Close()
	}
}
