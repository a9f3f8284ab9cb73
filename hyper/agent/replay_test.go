package agent

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hypermodels/hypermodels/hyper/train"
)

// A reservoir of 5 is a uniform sample of 40 data, also one that first grew: over 4,000 seeds each datum is kept in an
// eighth of them. The chi-squared test rejects what has probability 1e-6; the counts vary by 1 - 5/40 less than
// independent ones would.
func TestReservoirIsUniform(t *testing.T) {
	const seeds, data, capacity = 4000, 40, 5
	for _, replay := range []Replay{Reservoir, Growth} {
		var count [data]float64
		for seed := range uint64(seeds) {
			c := Config{Replay: replay, Seed: seed, Train: train.Config{Integrate: train.Sampled, Capacity: capacity}}
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
			t.Errorf("%s: data kept %v times, expected %v: p = %.1g", replay, count, want, p)
		}
	}
}

// A window has the last data, in order; |D| of its loss is how many they are, and that of a reservoir all data so far.
func TestPlaces(t *testing.T) {
	window := Config{Replay: Window, Train: train.Config{Integrate: train.Sampled, Capacity: 3}}
	d, rows := contents{Rows: window.rows()}, make([]int, 3)
	for i := range 11 {
		row, next := window.place(d)
		rows[row], d = i, next
	}
	if want := (contents{Seen: 11, Kept: 3, Rows: 3, Oldest: 2}); d != want || !slices.Equal(rows, []int{9, 10, 8}) || window.inLoss(d) != 3 {
		t.Errorf("window: %+v, data %v, |D| %d", d, rows, window.inLoss(d))
	}
	reservoir := Config{Replay: Reservoir, Train: window.Train}
	if n := reservoir.inLoss(contents{Seen: 11, Kept: 3, Rows: 3}); n != 11 {
		t.Errorf("reservoir: |D| %d", n)
	}
	sums := Config{Replay: Window, Train: train.Config{Integrate: train.FullData}}
	if row, next := sums.place(contents{Seen: 11}); row != 0 || next != (contents{Seen: 12}) || sums.inLoss(next) != 12 || sums.room(next) != 0 {
		t.Errorf("sums: row %d, %+v", row, next)
	}
}

// Numbers of actions are rounded up by less than a third, to few sizes.
func TestPadded(t *testing.T) {
	sizes := map[int]bool{}
	for n := 1; n <= 4096; n++ {
		size := padded(n)
		if size < n || 2*size > 3*n {
			t.Errorf("%d actions are padded to %d", n, size)
		}
		sizes[size] = true
	}
	if padded(0) != 0 || len(sizes) != 24 {
		t.Errorf("0 is padded to %d, and there are %d sizes", padded(0), len(sizes))
	}
}

// What is drawn has the probabilities reported: over evenly spaced numbers in place of random ones, exactly their
// share. Padding is the first action's.
func TestMixedAndDrawn(t *testing.T) {
	p := mixed([]float32{0.25, 0, 0.5, 0.125, 0.125}, 3, 0.3)
	want := []float32{0.45, 0.1, 0.45} // 0.7 * (0.5, 0, 0.5) + 0.1
	for i := range want {
		if len(p) != 3 || math.Abs(float64(p[i]-want[i])) > 1e-7 {
			t.Fatalf("probabilities %v, want %v", p, want)
		}
	}
	const n = 1 << 12
	count := make([]int, 3)
	for i := range uint32(n) {
		count[drawn(p, []uint32{i << 20, 0})]++
	}
	for i, c := range count {
		if math.Abs(float64(c)-float64(p[i])*n) > 1 {
			t.Errorf("action %d drawn %d times of %d, probability %v", i, c, n, p[i])
		}
	}
	if x := drawn([]float32{0, 1, 0}, []uint32{math.MaxUint32, math.MaxUint32}); x != 1 {
		t.Errorf("action %d of probability 0 drawn", x)
	}
}
