package train

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/index"
	"github.com/hypermodels/hypermodels/hyper/internal/loop"
	"github.com/hypermodels/hypermodels/hyper/internal/row"
)

// A run in a batch learns what it learns alone from the same seed. On the Go backend the results are equal; on XLA they
// are equal to rounding, because the shape may change the order of sums.
func TestABatchOfRunsIsTheRunsAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	const data = 5
	actions := randomArray(r, 1, 3, 3, 3)
	x, y := randomInts(r, 3, data, 3), randomArray(r, 1, data, 3)
	learn := func(t *testing.T, name string, m hyper.Model, runs []int) [][]array {
		tr := Trainer{m, Config{Steps: 2, Batch: 4, Indices: 3, Capacity: data}}
		menu, seeds, rates := newArray(len(runs), 3, 3), []uint64{}, [4][]float32{}
		for i, run := range runs {
			copy(menu.sub(i).v, actions.sub(run).v)
			seeds = append(seeds, uint64(100+run))
			for j, v := range []float32{0.1, 1, 2, 0.5} {
				rates[j] = append(rates[j], v*float32(1+run))
			}
		}
		machine := newMachine(t, name, tr, seeds, rates, &menu)
		for i := range data {
			var xs []int32
			var ys []float32
			for _, run := range runs {
				xs, ys = append(xs, int32(x.at(i, run))), append(ys, float32(y.at(i, run)))
			}
			machine.add(xs, ys)
			machine.train(i)
		}
		out := make([][]array, len(runs))
		for i := range runs {
			for _, nu := range machine.nu() {
				out[i] = append(out[i], nu.sub(i))
			}
		}
		return out
	}
	network := networkOf(base.Linear{Features: 3}, index.Gaussian{N: 3}, hyper.Dense(3, 3))
	models := append(trainable()[:4:4], namedModel{"line, network", network})
	for i, m := range models {
		for _, name := range sometimesXLA(i) {
			tolerance := single
			if name == backend.Go {
				tolerance = 0
			}
			batch := learn(t, name, m.Model, []int{0, 1, 2})
			for _, run := range []int{0, 2} {
				alone := learn(t, name, m.Model, []int{run})[0]
				near(t, fmt.Sprintf("%s/%s: run %d", m.name, name, run), concatenated(batch[run]), concatenated(alone), tolerance)
			}
		}
	}
}

// gatherColumns takes the entries in the rows and columns of each step, for each run.
func TestGatherColumns(t *testing.T) {
	const runs, rows, columns, steps, n, k = 2, 5, 4, 3, 2, 2
	r := rand.New(rand.NewPCG(3, 4))
	m := randomArray(r, 1, runs, rows, columns)
	at, ids := randomInts(r, rows, runs, steps*n), randomInts(r, columns, runs, steps*k)
	want := newArray(runs, steps*n, k)
	for run := range runs {
		for i := range steps * n {
			for j := range k {
				want.sub(run, i).v[j] = m.at(run, int(at.at(run, i)), int(ids.at(run, i/n*k+j)))
			}
		}
	}
	for _, name := range backends() {
		got := eval(t, name, func(in []*Node) []*Node {
			return []*Node{gatherColumns(in[0], in[1], in[2], steps)}
		}, m.float32s(), at.int32s(), ids.int32s())[0]
		near(t, name, got.v, want.v, 0)
	}
}

// collapse takes wide perturbations block by block. It gives the statistics of the whole minibatch of the step.
func TestCollapseInBlocks(t *testing.T) {
	const runs, capacity, arms, steps, batch, width = 2, 7, 3, 2, 301, 900 // three blocks of 300
	if n := blocksOf(width, batch); n != 3 {
		t.Fatalf("got %d blocks, want 3", n)
	}
	tr := Trainer{
		Belief: hyper.Model{Base: base.Tabular{Arms: arms}, Hyper: hyper.Ensemble{Particles: width, Params: arms}},
		Config: Config{Steps: steps, Batch: batch, Integrate: Analytic},
	}
	r := rand.New(rand.NewPCG(5, 6))
	a, y := randomArray(r, 1, runs, capacity, width), randomArray(r, 1, runs, steps*batch)
	x, at := randomInts(r, arms, runs, steps*batch, 1), randomInts(r, capacity, runs, steps*batch)
	for _, name := range backends() {
		out := eval(t, name, func(in []*Node) []*Node {
			d := &draws{data: Batch{X: in[1], Y: in[2]}, at: in[3]}
			got := tr.solver().(closedForm).collapse(State{"replay.a": in[0]}, d, loop.At(1))
			d.data.A = row.Take(in[0], in[3])
			want := collapse(modelOf(tr).Base.(hyper.LinearBase), d.data.step(loop.At(1), batch))
			return []*Node{want.gram, want.y, want.a, got.gram, got.y, got.a}
		}, a.float32s(), x.int32s(), y.float32s(), at.int32s())
		for i, what := range []string{"Gram", "Y", "A"} {
			near(t, name+": "+what, out[3+i].v, out[i].v, single)
		}
	}
}
