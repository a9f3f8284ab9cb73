package sweep

import (
	"cmp"
	"math"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// cut divides a Spec into about the given number of shards. Each shard has entries of one shape, so that it compiles
// one program. Shards of one shape are next to each other.
func cut(spec lab.Spec, shards, batch int) []Shard {
	var order []string
	groups := map[string][]int{}
	for i, e := range spec.Entries {
		key := e.Shape()
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	lanes := max(batch, (len(spec.Entries)*spec.Runs+shards-1)/shards)
	var out []Shard
	for _, key := range order {
		entries := groups[key]
		e, r := block(len(entries), spec.Runs, lanes, batch)
		for i := 0; i < len(entries); i += e {
			for first := 0; first < spec.Runs; first += r {
				out = append(out, Shard{Entries: entries[i:min(i+e, len(entries))], First: first,
					Runs: min(r, spec.Runs-first)})
			}
		}
	}
	return out
}

// block chooses the numbers of entries and runs of a shard, for about lanes entry-runs in each. Equal shards of whole
// batches are best: every other size of batch needs a further compilation, and a batch that is not full is slow.
func block(entries, runs, lanes, batch int) (e, r int) {
	best := math.Inf(1)
	for i := 1; i <= min(entries, 2*lanes); i++ {
		for j := 1; j <= min(runs, 2*lanes/i); j++ {
			if cost := blockCost(entries, runs, i, j, lanes, batch); cmp.Less(cost, best) {
				best, e, r = cost, i, j
			}
		}
	}
	return e, r
}

// blockCost returns a cost of shards of i entries and j runs: one point for each way in which shards are unequal or end
// with a part of a batch, and one point for each factor of two between the size of a shard and the requested size.
func blockCost(entries, runs, i, j, lanes, batch int) float64 {
	cost := math.Abs(math.Log2(float64(i*j) / float64(lanes)))
	for _, odd := range []bool{entries%i != 0, runs%j != 0, i*j%batch != 0} {
		if odd {
			cost++
		}
	}
	return cost
}
