package agent

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// A reservoir of 5 is a uniform sample of 40 data, even if it grew at first: over 4,000 seeds each datum is kept in one
// eighth of them. The chi-squared test has a level of 1e-6; the counts have 1 - 5/40 of the variance of independent
// counts.
func TestReservoirIsUniform(t *testing.T) {
	NotInShort(t)
	const seeds, data, capacity = 4000, 40, 5
	for _, replay := range []Replay{Reservoir, Growth} {
		var count [data]float64
		for seed := range uint64(seeds) {
			c := Config{Learner: learner.Learner{
				Train: train.Config{Integrate: train.Sampled, Capacity: capacity},
			}, Replay: replay, Seed: seed}
			d, rows := contents{Rows: c.rows()}, map[int]int{}
			if replay == Growth {
				d.Rows = 2
			}
			for i := range data {
				d.Rows = c.room(d)
				row, next := c.place(d)
				if row >= 0 {
					rows[row] = i
				}
				d = next
			}
			if want := (contents{Seen: data, Kept: capacity, Rows: capacity}); d != want || len(rows) != capacity {
				t.Fatalf("%s: %+v with %d rows, want %+v", replay, d, len(rows), want)
			}
			for _, i := range rows {
				count[i]++
			}
		}
		chi, want := 0.0, seeds*capacity/float64(data)
		for _, n := range count {
			chi += math.Pow(n-want, 2) / want / (1 - capacity/float64(data))
		}
		if p := (distuv.ChiSquared{K: data - 1}).Survival(chi); p < 1e-6 {
			t.Errorf("%s: data kept %v times, want about %v: p = %.1g", replay, count, want, p)
		}
	}
}

// A conditioned belief keeps knowledge of all inputs, whether or not a reservoir has room for them. A window is
// refused, because the belief cannot forget its data.
func TestReservoirOfConditionedBelief(t *testing.T) {
	roots := map[int][]float64{}
	for _, capacity := range []int{3, 40} {
		c := Config{Features: 2, Replay: Reservoir, Backend: backend.Go, Learner: learner.Learner{
			Belief: hyper.NetworkGP{Features: 2, Hidden: []int{3}, Waves: 4, Length: 1, PriorScale: 1},
			Train:  train.Config{Capacity: capacity, Steps: 1, Batch: 2},
		}}
		a := must.M1(New(c))
		for i := range 20 {
			must.M(a.Add([]float32{float32(i % 3), float32(i)/10 - 1}, 1))
		}
		root := a.current().state[a.place("kept.root")].Tensor
		roots[capacity] = must.M1(tensors.CopyFlatData[float64](root))
		c.Replay = Window
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), "Replay window") {
			t.Errorf("Replay window: got error %v, want one about it", err)
		}
	}
	for i, v := range roots[3] {
		if math.Abs(v-roots[40][i]) > 1e-6 {
			t.Fatalf("got the root %v with a capacity of 3 data, %v with a capacity for all", roots[3], roots[40])
		}
	}
}

// The mean and the variance of standardised responses are of all responses, also of those for which a reservoir has no
// room.
func TestReservoirCountsAllResponses(t *testing.T) {
	c := Config{Replay: Reservoir, Backend: backend.Go}
	c.Learner.Train.Capacity, c.Learner.Train.Steps = 3, 1
	a := must.M1(New(c.Neural(2, 3)))
	defer a.Close()
	for i := range 20 {
		must.M(a.Add([]float32{1, float32(i % 3)}, float32(i)))
	}
	for entry, want := range map[train.Entry]float64{"response.count": 20, "response.mean": 9.5, "response.m2": 665} {
		got := must.M1(tensors.CopyFlatData[float64](a.current().state[a.place(entry)].Tensor))[0]
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, want %v", entry, got, want)
		}
	}
}

// Agents that keep sums over their data refuse a window, and the error names what they can do to forget.
func TestWindowOfSums(t *testing.T) {
	window := Config{Replay: Window, Backend: backend.Go}
	for want, c := range map[string]Config{
		"to forget, set Change with Restart, or Replay to Window":   window.Arms(2),
		"to forget, set Learner.Train.Discount (Forget, for Contex": window.Contextual(2, 1),
	} {
		for _, capacity := range []int{0, 10} {
			c.Learner.Train.Capacity = capacity
			if _, err := New(c); err == nil || !strings.Contains(err.Error(), "Replay window is not for") ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	_, err := New(Config{Forget: 0.9}.Arms(2))
	if want := "set Forget to 0; to forget, set Change with Restart"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}

	window.Learner.Train.Capacity, window.Learner.Train.Integrate = 10, train.Sampled
	a := must.M1(New(window.Arms(2)))
	for i := range 60 {
		must.M(a.Add([]float32{0}, float32(i/30)))
	}
	must.M(a.Learn(t.Context(), 50))
	mean := float32(0)
	for _, f := range must.M1(a.Sample(nil, 200)) {
		mean += f[0] / 200
	}
	if mean < 0.9 {
		t.Errorf("the mean of arm 0 is %v after a window of 10 rewards of 1, want about 1", mean)
	}
}

// A window has the last data, in order, and |D| of its loss is their number. |D| of a reservoir is the number of all
// data so far.
func TestPlaces(t *testing.T) {
	window := Config{Learner: learner.Learner{
		Train: train.Config{Integrate: train.Sampled, Capacity: 3},
	}, Replay: Window}
	d, rows := contents{Rows: window.rows()}, make([]int, 3)
	for i := range 11 {
		row, next := window.place(d)
		rows[row], d = i, next
	}
	if want := (contents{Seen: 11, Kept: 3, Rows: 3, Oldest: 2}); d != want || !slices.Equal(rows, []int{9, 10, 8}) || window.inLoss(d) != 3 {
		t.Errorf("window: got %+v, rows %v, |D| %d", d, rows, window.inLoss(d))
	}
	reservoir := Config{Learner: learner.Learner{Train: window.Learner.Train}, Replay: Reservoir}
	if n := reservoir.inLoss(contents{Seen: 11, Kept: 3, Rows: 3}); n != 11 {
		t.Errorf("reservoir: got |D| = %d, want 11", n)
	}
	sums := Config{Learner: learner.Learner{Train: train.Config{Integrate: train.FullData}}, Replay: Window}
	if row, next := sums.place(contents{Seen: 11}); row != 0 || next != (contents{Seen: 12}) || sums.inLoss(next) != 12 ||
		sums.room(next) != 0 {
		t.Errorf("sums: got row %d, contents %+v, want row 0 and 12 data", row, next)
	}
}

// Numbers of actions are rounded up to few sizes, by less than a third.
func TestPadded(t *testing.T) {
	sizes := map[int]bool{}
	for n := 1; n <= 4096; n++ {
		size := padded(n)
		if size < n || 2*size > 3*n {
			t.Errorf("%d actions are padded to %d, want at most half more", n, size)
		}
		sizes[size] = true
	}
	if padded(0) != 0 || len(sizes) != 24 {
		t.Errorf("0 is padded to %d, and there are %d different sizes", padded(0), len(sizes))
	}
}

// Actions are taken with the reported probabilities. The test replaces random numbers by evenly spaced ones: the floor
// replaces a policy's certain action by a uniform one, with the probability of the floor.
func TestFloored(t *testing.T) {
	const n, floor = 1 << 12, 0.3
	count := make([]int, 3)
	var p []float32
	for i := range uint32(n) {
		var action int
		action, p = floored(2, []float32{0, 0, 2}, floor, []uint32{i << 20, (i * 2654435761)})
		count[action]++
	}
	want := []float32{0.1, 0.1, 0.8} // 0.7 * (0, 0, 1) + 0.1
	for i, c := range count {
		if len(p) != 3 || math.Abs(float64(p[i]-want[i])) > 1e-7 {
			t.Fatalf("probabilities %v, want %v", p, want)
		}
		if math.Abs(float64(c)/n-float64(p[i])) > 0.005 { // 2654435761 spreads the second word evenly
			t.Errorf("action %d taken %d times of %d, want a share of %v", i, c, n, p[i])
		}
	}
	if x, p := floored(1, []float32{0, 0.5}, 0, []uint32{0, 0}); x != 1 || p[1] != 1 {
		t.Errorf("without a floor: got action %d with probabilities %v, want action 1", x, p)
	}
}
