package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// hostedBlocks is a belief with 3 blocks of 4 + 2 + 1 numbers.
var hostedBlocks = hyper.BayesianLinear{Features: 3, Blocks: 3, Numbered: true, Waves: 4, Length: 1}

// hostedLines is hostedBlocks with a line as a second part, of 2 + 1 numbers.
var hostedLines = hyper.BayesianLinear{Features: 3, Blocks: 3, Numbered: true, Waves: 4, Length: 1, Line: true}

// programmed returns the entries of a state that programs compute, before any data and after data with weights. The
// entries are in the order of names.
func programmed(t *testing.T, tr Trainer, x [][]float32, y, w []float32) (names []Entry, before, after [][]float64) {
	t.Helper()
	out := must.M1(CallOnceN(must.M1(backend.Open(backend.Go)), func(in []*Node) []*Node {
		s := rng.New(in[0])
		state := tr.Init(s.Named("init"), nil)
		g := s.Graph()
		rate := func(v float32) *Node { return Const(g, []float32{v}) }
		start := state
		for i := range x {
			r := Rates{PriorVar: rate(2), NoiseVar: rate(0.5), Perturbation: rate(0)}
			if tr.Weighted {
				r.Weight = rate(w[i])
			}
			state = tr.Observe(state, s.Named("data"), Const(g, int32(i)), Const(g, [][]float32{x[i]}), rate(y[i]), nil, r)
		}
		var nodes []*Node
		names = names[:0]
		for name := range start {
			names = append(names, Entry(name))
		}
		slices.Sort(names)
		for _, of := range []State{start, state} {
			for _, name := range names {
				nodes = append(nodes, double(of[string(name)]))
			}
		}
		return nodes
	}, []uint64{5}))
	for i, v := range out {
		if flat := tensors.MustCopyFlatData[float64](v); i < len(names) {
			before = append(before, flat)
		} else {
			after = append(after, flat)
		}
	}
	return names, before, after
}

// hosted returns the posterior in plain Go for entries with the given names.
func hosted(t *testing.T, tr Trainer, names []Entry, entries [][]float64) *HostPosterior {
	t.Helper()
	h, ok := tr.OnHost(2, 0.5)
	if !ok {
		t.Fatal("OnHost refuses the belief")
	}
	of := func(name Entry) []float64 { return entries[slices.Index(names, name)] }
	p := hyper.HostParams{Fixed: map[string][]float32{}}
	for _, name := range []string{"scale", "waves", "phases"} {
		for _, v := range of(Entry("fixed." + name)) {
			p.Fixed[name] = append(p.Fixed[name], float32(v))
		}
	}
	return must.M1(h.Posterior(p, func(name Entry, read func([]float64)) error { read(of(name)); return nil }))
}

// roots returns S S^T of each block.
func roots(blocks, n int, s []float64) (out []float64) {
	for b := range blocks {
		for i := range n {
			for j := range n {
				sum := 0.0
				for k := range n {
					sum += s[(b*n+i)*n+k] * s[(b*n+j)*n+k]
				}
				out = append(out, sum)
			}
		}
	}
	return out
}

// A posterior in plain Go equals the posterior of programs, entry by entry, with S compared by S S^T, with weights and
// without. The bound is the precision of phi, which is single.
func TestHostPosteriorIsThePrograms(t *testing.T) {
	for _, belief := range []hyper.BayesianLinear{hostedBlocks, hostedLines} {
		for _, c := range []Config{{}, {Standardize: true}, {Weighted: true}, {Discount: 0.98}, {Discount: 0.992},
			{Discount: 0.999, Standardize: true}, {Discount: 0.8, Standardize: true, Weighted: true}} {
			c.Integrate, c.Inputs = Exact, 3
			isThePrograms(t, Trainer{belief, c})
		}
	}
}

func isThePrograms(t *testing.T, tr Trainer) {
	t.Helper()
	c, r := tr.Config, rand.New(rand.NewPCG(1, 2))
	const data = 12
	x, y, w := make([][]float32, data), make([]float32, data), make([]float32, data)
	for i := range x {
		x[i] = []float32{float32(r.IntN(2)), float32(r.NormFloat64()), float32(r.NormFloat64())} // block 2 has no data
		y[i], w[i] = float32(4+3*r.NormFloat64()), 1
		if c.Weighted {
			w[i] = float32(1 + r.IntN(5))
		}
	}
	names, before, after := programmed(t, tr, x, y, w)
	first := hosted(t, tr, names, before)
	p, ok := first, false
	for i := range x {
		last := p
		if p, ok = p.Observe(x[i], y[i], w[i]); !ok {
			t.Fatalf("the posterior after datum %d is not finite", i)
		}
		for b := range p.blocks {
			if shares := p.blocks[b] == last.blocks[b]; shares != (b != int(x[i][0])) && c.Discount == 0 {
				t.Fatalf("datum of block %v: the old and the new posterior share block %d: %v", x[i][0], b, shares)
			}
		}
	}
	for _, name := range p.Names() {
		want := after[slices.Index(names, name)]
		got, start := make([]float64, len(want)), make([]float64, len(want))
		p.Write(name, got)
		first.Write(name, start)
		if !slices.Equal(start, before[slices.Index(names, name)]) {
			t.Errorf("%+v: learning has changed %s of the posterior before any data", tr, name)
		}
		if j := slices.Index([]Entry{"nu.1", "nu.2"}, name); j >= 0 {
			n := p.parts[j].Size()
			got, want = roots(3, n, got), roots(3, n, want)
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-5*(1+math.Abs(want[i])) {
				t.Fatalf("%+v: number %d of %s: got %g, by programs %g", tr, i, name, got[i], want[i])
			}
		}
	}
}

// A posterior that is written and read continues like the original, to the bit.
func TestHostPosteriorIsRead(t *testing.T) {
	tr, r := Trainer{hostedLines, Config{Integrate: Exact, Standardize: true, Inputs: 3}}, rand.New(rand.NewPCG(3, 4))
	names, before, _ := programmed(t, tr, nil, nil, nil)
	p, ok := hosted(t, tr, names, before), false
	learn := func(p *HostPosterior, x []float32, y float32) *HostPosterior {
		if p, ok = p.Observe(x, y, 1); !ok {
			t.Fatal("the posterior is not finite")
		}
		return p
	}
	entries := func(p *HostPosterior) [][]float64 {
		out := make([][]float64, len(names))
		for i, name := range names {
			if out[i] = slices.Clone(before[i]); slices.Contains(p.Names(), name) {
				p.Write(name, out[i])
			}
		}
		return out
	}
	for range 30 {
		x, y := []float32{float32(r.IntN(3)), float32(r.NormFloat64()), 1}, float32(r.NormFloat64())
		read := learn(hosted(t, tr, names, entries(p)), x, y)
		p = learn(p, x, y)
		if !slices.EqualFunc(entries(p), entries(read), slices.Equal) {
			t.Fatal("the posterior that was read continues differently")
		}
	}
}

// The memory of a root is used again after all holders of the posteriors with this root have dropped them, and not
// before.
func TestHostPosteriorMemory(t *testing.T) {
	tr := Trainer{hostedBlocks, Config{Integrate: Exact, Inputs: 3}}
	names, before, _ := programmed(t, tr, nil, nil, nil)
	start := hosted(t, tr, names, before)
	learn := func(p *HostPosterior) *HostPosterior {
		next, _ := p.Observe([]float32{1, 0.5, -1}, 1, 1)
		return next
	}
	rootOf := func(p *HostPosterior) []float64 {
		s := make([]float64, 3*7*7)
		p.Write("nu.1", s)
		return s
	}
	first := learn(start)
	want, known := rootOf(first), rootOf(start)
	start.Drop()
	second := learn(first)
	first.Hold()
	first.Drop()
	third := learn(second) // first is still held
	if !slices.Equal(rootOf(first), want) {
		t.Fatal("a posterior that is still in use has changed")
	}
	reused := false
	for range 100 { // a pool may lose its objects
		second.Drop()
		second, third = third, learn(third)
		reused = reused || third.blocks[1].roots[0] == first.blocks[1].roots[0]
	}
	if reused || !slices.Equal(rootOf(first), want) {
		t.Fatal("a posterior that is still in use has changed")
	}
	first.Drop()
	for range 100 {
		second.Drop()
		second, third = third, learn(third)
		reused = reused || third.blocks[1].roots[0] == first.blocks[1].roots[0]
	}
	if !reused {
		t.Error("the memory of an unused posterior is not used again")
	}
	if again := hosted(t, tr, names, before); !slices.Equal(rootOf(again), known) {
		t.Error("the roots before data have changed")
	}
}

// A posterior continues from a file of an earlier method of forgetting, even if the number in the file's turn is out of
// range.
func TestHostPosteriorTurnOfBefore(t *testing.T) {
	tr := Trainer{hostedBlocks, Config{Integrate: Exact, Inputs: 3, Discount: 0.992}}
	names, before, _ := programmed(t, tr, nil, nil, nil)
	before[slices.Index(names, "discount.turn")][0] = 5000
	p, ok := hosted(t, tr, names, before).Observe([]float32{1, 0.5, -1}, 1, 1)
	if turns, turn := p.turns(); !ok || turn != 5000%turns.data+1 {
		t.Errorf("the next datum is number %d of a turn of %d", turn, turns.data)
	}
}

// OnHost refuses what plain Go cannot train: a belief of one block, another integration, and a belief that embeds
// another.
func TestOnHostOnlyBlocks(t *testing.T) {
	one := hostedBlocks
	one.Blocks = 1
	type embeds struct{ hyper.BayesianLinear }
	for name, tr := range map[string]Trainer{
		"block":    {one, Config{Integrate: Exact}},
		"sampled":  {hostedBlocks, Config{Integrate: Sampled}},
		"embedded": {embeds{hostedBlocks}, Config{Integrate: Exact}},
	} {
		if _, ok := tr.OnHost(1, 1); ok {
			t.Errorf("%s: OnHost is possible, want a refusal", name)
		}
	}
}

// Observe refuses a datum with a result that is not finite: with a noise variance of 0 no finite root is left.
func TestHostPosteriorNotFinite(t *testing.T) {
	tr := Trainer{hostedBlocks, Config{Integrate: Exact, Inputs: 3}}
	names, before, _ := programmed(t, tr, nil, nil, nil)
	p := hosted(t, tr, names, before)
	p.rho = math.Inf(1)
	if _, ok := p.Observe([]float32{0, 1, 1}, 1, 1); ok {
		t.Error("datum with a result that is not finite: got no refusal")
	}
}

// A posterior with a revised response equals the posterior that observed the right response in the first place.
func TestHostPosteriorRevises(t *testing.T) {
	for _, c := range []Config{{}, {Standardize: true}, {Weighted: true}, {Discount: 0.9, Standardize: true},
		{Discount: 0.999}, {Discount: 0.992, Standardize: true}} {
		c.Integrate, c.Inputs = Exact, 3
		r := rand.New(rand.NewPCG(3, 4))
		names, before, _ := programmed(t, Trainer{hostedLines, c}, nil, nil, nil)
		right := hosted(t, Trainer{hostedLines, c}, names, before)
		late := right.Hold()
		const data, wrong = 20, 7
		var x []float32
		var y float32
		for i := range data {
			in := []float32{float32(i % 3), float32(r.NormFloat64()), float32(r.NormFloat64())}
			out, told, ok := float32(4+3*r.NormFloat64()), float32(0), false
			if told = out; i == wrong {
				x, y, told = in, out, 0
			}
			if right, ok = right.Observe(in, out, 1); !ok {
				t.Fatal("the posterior is not finite")
			}
			if late, ok = late.Observe(in, told, 1); !ok {
				t.Fatal("the posterior is not finite")
			}
		}
		revised, ok := late.Revise(x, 0, y, 1, data-1-wrong)
		if !ok {
			t.Fatal("the posterior is not finite")
		}
		for _, name := range revised.Names() {
			size := len(before[slices.Index(names, name)])
			got, want, old := make([]float64, size), make([]float64, size), make([]float64, size)
			revised.Write(name, got)
			right.Write(name, want)
			late.Write(name, old)
			moved := 0.0
			for i := range got {
				moved = max(moved, math.Abs(old[i]-want[i]))
				if math.Abs(got[i]-want[i]) > 1e-9*(1+math.Abs(want[i])) {
					t.Errorf("%+v: %s[%d] is %v, want %v", c, name, i, got[i], want[i])
				}
			}
			if depends := name == "response.mean" || name == "response.m2" || name == "response.y" ||
				name == "nu.0" && !c.Standardize || name == "nu.3" || name == "evidence.sums"; depends != (moved > 1e-6) {
				t.Errorf("%+v: without the correction %s differs by %v", c, name, moved)
			}
		}
		if _, ok := late.Revise(x, 0, float32(math.Inf(1)), 1, 0); ok {
			t.Error("infinite response: got no refusal")
		}
	}
}
