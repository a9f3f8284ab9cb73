package paper_test

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

var tails = flag.Int("tails", 0, "samples of each population in TestTails, 20 or more for the levels of PROTOCOL.md")

// pair holds the regrets of two agents in the same environments: a population from which samples are drawn.
type pair struct{ a, b []float64 }

// The tests of the ten sentences have correct error rates in the tails. The runs of two committed agents are the
// population. In samples of it, the share of true hypotheses that a test at a level rejects is at most about the level.
// Populations in which a single run has a quarter of the regret are counted apart, and without a bound: most samples of
// 24 and 64 runs lack that run, and no test can then know of it.
//
//	go test ./hyper/paper -run Tails -tails 60 -v     # all levels, in some 20 minutes
func TestTails(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some ten seconds")
	}
	populations := pairsOfAgents()
	if len(populations) < 300 {
		t.Fatalf("%d pairs of agents have 60 runs in common, want 300 or more", len(populations))
	}
	sizes, samples := []int{24, 64, 128}, *tails
	if samples == 0 { // every other pair
		sizes, samples = []int{64}, 1
		for i := range populations {
			populations[i/2] = populations[i]
		}
		populations = populations[:len(populations)/2]
	}
	levels := []float64{0.05, 0.005, 0.0005}
	random := rand.New(rand.NewPCG(9, 10))
	for _, n := range sizes {
		for _, dominated := range []bool{false, true} {
			rejected, tests := make([]float64, len(levels)), 0.
			for _, p := range populations {
				if p.dominated() != dominated {
					continue
				}
				truth := sum(p.a) / sum(p.b)
				for range samples {
					s := stats.Ratio(sample(random, p, n))
					for _, pValue := range []float64{s.PBelow(truth), s.PAbove(truth)} {
						tests++
						for i, level := range levels {
							if pValue <= level {
								rejected[i]++
							}
						}
					}
				}
			}
			for i, level := range levels {
				share := rejected[i] / tests
				t.Logf("%d pairs, a run with a quarter of the regret: %v: at %v %.5f ± %.5f of %.0f true hypotheses are "+
					"rejected", n, dominated, level, share, math.Sqrt(share*(1-share)/tests), tests)
				times := 1.
				if level < 0.001 { // a small sample rarely has enough of the worst runs
					times = map[int]float64{24: 4, 64: 3, 128: 1}[n]
				}
				bound := times * level
				bound += 3 * math.Sqrt(bound*(1-bound)/tests) // three standard errors
				if !dominated && share > bound {
					t.Errorf("%d pairs: at level %v the share %.5f of true hypotheses is rejected", n, level, share)
				}
			}
		}
	}
}

// dominated reports whether one run has more than a quarter of the regret of an agent.
func (p pair) dominated() bool {
	return slices.Max(p.a) > sum(p.a)/4 || slices.Max(p.b) > sum(p.b)/4
}

// sample draws n runs with replacement.
func sample(random *rand.Rand, p pair, n int) (a, b []float64) {
	for range n {
		i := random.IntN(len(p.a))
		a, b = append(a, p.a[i]), append(b, p.b[i])
	}
	return a, b
}

func sum(x []float64) (total float64) {
	for _, v := range x {
		total += v
	}
	return total
}

// pairsOfAgents returns the regrets of all pairs of agents that have committed runs of the same length in the same
// world, with at least 60 common seeds.
func pairsOfAgents() (all []pair) {
	for _, name := range paper.Order {
		for _, s := range committed()[name] {
			all = append(all, pairsOf(s.header, s.rows)...)
		}
	}
	return all
}

func pairsOf(h lab.Header, rows []lab.Row) (all []pair) {
	last := make([]map[uint64]lab.Row, len(h.Spec.Entries))
	for _, r := range rows {
		if last[r.Entry] == nil {
			last[r.Entry] = map[uint64]lab.Row{}
		}
		if r.Period > last[r.Entry][r.Seed].Period {
			last[r.Entry][r.Seed] = r
		}
	}
	for i := range last {
		for j := range i {
			if world(h.Spec.Entries[i]) != world(h.Spec.Entries[j]) {
				continue
			}
			var p pair
			for _, seed := range slices.Sorted(maps.Keys(last[i])) {
				if one, other := last[i][seed], last[j][seed]; one.Period == other.Period {
					p.a, p.b = append(p.a, float64(one.Regret)), append(p.b, float64(other.Regret))
				}
			}
			if len(p.a) >= 60 {
				all = append(all, p)
			}
		}
	}
	return all
}

// world returns a text that distinguishes the environments of different entries.
func world(e lab.Entry) string {
	v := catalog.Values(e.Setting)
	return fmt.Sprint(v["actions"], v["arms"], v["noise"], v["noise-factor"])
}
