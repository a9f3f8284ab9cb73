package bandit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// numbered writes a file with the given number of rows, each with its own number, and with two kinds.
func numbered(t *testing.T, rows int) string {
	var text strings.Builder
	text.WriteString("id,kind\n")
	for i := range rows {
		fmt.Fprintf(&text, "%d,%d\n", i, i%2)
	}
	return written(t, text.String())
}

// seen returns the rows of a numbered file that a run saw; their numbers are not scaled.
func seen(h history) (rows []int) {
	for _, x := range h.inputs {
		rows = append(rows, int(x[0]))
	}
	return rows
}

// A shuffled table satisfies the requirements of every world, with each way to standardise.
func TestShuffledConforms(t *testing.T) {
	file := written(t, flowers)
	for _, how := range []string{ByFile, Online, Raw} {
		t.Run(how, func(t *testing.T) {
			conforms(t, func() World {
				return &Table{File: file, Target: "kind, exactly", Order: Shuffled, Standardize: how, Noise: 0.5}
			}, true)
		})
	}
}

// Each pass over a table has each row once. The next pass and another run have a different order. With one action for
// all rows and without noise, the regret of a pass is the number of rows of the other class. All backends have the same
// orders.
func TestShuffled(t *testing.T) {
	const rows, passes = 7, 3
	w := &Table{File: numbered(t, rows), Order: Shuffled, Standardize: Raw}
	seeds, orders := []uint64{1, 2, 3}, map[string]string{}
	testbackend.ForEach(t, func(t *testing.T, name string) {
		all := map[string]bool{}
		for run, h := range watch(t, name, w, seeds, nil, rows*passes) {
			order, mistakes := seen(h), float32(0)
			for pass := range passes {
				one := order[pass*rows : (pass+1)*rows]
				all[fmt.Sprint(one)] = true
				if !slices.Equal(slices.Sorted(slices.Values(one)), []int{0, 1, 2, 3, 4, 5, 6}) {
					t.Errorf("run %d, pass %d: got rows %v, want each row once", run, pass, one)
				}
			}
			for period := range rows {
				mistakes += h.all[period][1] // of the first class
			}
			if mistakes != 3 { // the ids 1, 3 and 5
				t.Errorf("run %d: got %v mistakes, want 3", run, mistakes)
			}
			orders[name] += fmt.Sprint(order)
		}
		if len(all) != passes*len(seeds) {
			t.Errorf("%d of %d orders are equal to another, want none", passes*len(seeds)-len(all), passes*len(seeds))
		}
	})
	for _, order := range orders {
		if other := orders[backendOf(orders)]; order != other {
			t.Errorf("orders of the rows: %s and %s, want equal orders", order, other)
		}
	}
}

func backendOf(orders map[string]string) string {
	names := make([]string, 0, len(orders))
	for name := range orders {
		names = append(names, name)
	}
	return slices.Min(names)
}

// Over 4,800 runs, all 24 orders of four rows are equally frequent, in the first pass and in the second: chi-squared
// with 23 degrees of freedom, below its 99.99% quantile.
func TestShuffledIsUniform(t *testing.T) {
	notInShort(t)
	w := &Table{File: numbered(t, 4), Order: Shuffled, Standardize: Raw}
	seeds := seedsOf(4800)
	counts := [2]map[string]int{{}, {}}
	for _, h := range watch(t, "go", w, seeds, nil, 8) {
		rows := seen(h)
		counts[0][fmt.Sprint(rows[:4])]++
		counts[1][fmt.Sprint(rows[4:])]++
	}
	for pass, count := range counts {
		square := 0.0
		for _, n := range count {
			square += math.Pow(float64(n)-200, 2) / 200
		}
		square += 200 * float64(24-len(count))
		if limit := (distuv.ChiSquared{K: 23}).Quantile(0.9999); square > limit {
			t.Errorf("pass %d: got chi-squared %v for %d orders, want at most %v", pass, square, len(count), limit)
		}
	}
}

// Online, a number is scaled by the rows up to it, in the units of the file. The oracle is gonum's mean and variance.
// The first number is 0; the 30th, an outlier, is 5; a column with one value so far is 0; and columns without numbers
// are not changed.
func TestOnline(t *testing.T) {
	const rows = 60
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("far,late,word,kind\n")
	far, late := make([]float64, rows), make([]float64, rows)
	for i := range rows {
		far[i] = 1e4 + r.NormFloat64()
		if i >= rows/2 {
			late[i] = 1e-3
		}
		fmt.Fprintf(&text, "%v,%v,%c,%d\n", far[i], late[i], 'a'+rune(i%3), i%2)
	}
	file := written(t, strings.Replace(text.String(), fmt.Sprint(far[29], ","), "20000,", 1))
	far[29] = 20000
	w := &Table{File: file, Order: Shuffled, Standardize: Online}
	raw := &Table{File: file, Order: Shuffled, Standardize: Raw}
	clipped := 0
	own := watch(t, "go", raw, []uint64{4, 5}, nil, rows)
	for run, h := range watch(t, "go", w, []uint64{4, 5}, nil, rows) {
		for column := range 2 {
			var values []float64
			for period, x := range h.inputs {
				v, unit := own[run].inputs[period], far
				if column == 1 {
					unit = late
				}
				at := slices.IndexFunc(unit, func(u float64) bool { return float32(u) == v[column] })
				values = append(values, unit[at])
				mean, sd := stat.PopMeanStdDev(values, nil)
				want := (unit[at] - mean) / sd
				if sd == 0 || period == 0 {
					want = 0
				}
				if math.Abs(want) > 5 {
					clipped++
					want = math.Copysign(5, want)
				}
				if got := float64(x[column]); math.Abs(got-want) > 1e-2 {
					t.Errorf("run %d, period %d, column %d: %v, want %v", run, period, column, got, want)
				}
				if !slices.Equal(x[2:5], v[2:5]) {
					t.Errorf("run %d, period %d: words %v became %v, want no change", run, period, v[2:5], x[2:5])
				}
			}
		}
	}
	if clipped == 0 {
		t.Error("no number was clipped")
	}
}

// An intercept is a one after the context of a row, in the action's block, however numbers are scaled.
func TestIntercept(t *testing.T) {
	for _, how := range []string{ByFile, Online, Raw} {
		with := &Table{File: written(t, flowers), Order: Shuffled, Standardize: how, Intercept: true}
		without := *with
		without.Intercept = false
		own := watch(t, "go", &without, []uint64{1}, nil, 4)[0]
		for period, x := range watch(t, "go", with, []uint64{1}, nil, 4)[0].inputs {
			if width := len(own.inputs[period]) / 9; !slices.Equal(x[:width+1],
				append(slices.Clone(own.inputs[period][:width]), 1)) {
				t.Errorf("%s: got inputs %v, and %v without the intercept", how, x, own.inputs[period])
			}
		}
	}
}

// Raw numbers are the numbers in the file. Single precision must be able to represent them.
func TestRaw(t *testing.T) {
	w := &Table{File: written(t, "x,y\n1.5,a\n-2,b\n"), Standardize: Raw}
	must.M(w.Validate())
	if got := fmt.Sprint(w.read.context.Value()); got != "[[1.5] [-2]]" {
		t.Error(got)
	}
	w.Standardize = ByFile // a second reading of the same file
	if p := w.Problem(); p.Features != 2 || fmt.Sprint(w.read.context.Value()) != "[[1] [-1]]" {
		t.Error(w.read.context.Value())
	}
	w.File, w.Standardize = written(t, "x,y\n1e39,a\n-2,b\n"), Raw
	if err := w.Validate(); err == nil || !strings.Contains(err.Error(), "which is out of range") {
		t.Error(err)
	}
}

// Settings that name the same file share the table. A file that has changed is read again.
func TestTablesShareAFile(t *testing.T) {
	file := written(t, "x,y\n1.5,a\n-2,b\n")
	one, two := &Table{File: file}, &Table{File: file}
	must.M(one.Validate())
	must.M(two.Validate())
	if one.read != two.read {
		t.Error("the file was read twice")
	}
	must.M(os.WriteFile(file, []byte("x,y\n1.5,a\n-2,b\n3,c\n"), 0o600))
	three := &Table{File: file}
	if must.M(three.Validate()); three.read.classes != 3 || one.read.classes != 2 {
		t.Errorf("the new file has %d classes, and the old one %d", three.read.classes, one.read.classes)
	}
}
