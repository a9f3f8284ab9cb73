package explore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Policies in plain Go decide like their programs, with ties and with padding, action for action.
func TestDecideOnHost(t *testing.T) {
	b := must.M1(backend.Open(backend.Go))
	const runs, actions = 120, 7
	for _, p := range []Hosted{Thompson{}, Thompson{N: 9}, UCB{}, UCB{N: 10, Quantile: 0.5}, Greedy{}, Greedy{N: 4},
		EpsilonGreedy{},
		EpsilonGreedy{N: 3, Anneal: 2}, IDS{N: 40}, IDS{N: 5}, IDS{N: 6, OnlyCandidates: true}} {
		n := p.Samples()
		r := rand.New(rand.NewPCG(1, uint64(n)))
		values, seeds := make([][][]float32, runs), make([]uint64, runs)
		for i := range values {
			seeds[i] = r.Uint64()
			for range n {
				f := make([]float32, actions)
				for a := range f {
					f[a] = float32(r.NormFloat64())
					if i%3 == 0 {
						f[a] = float32(r.IntN(3) - 1)
					}
				}
				values[i] = append(values[i], f)
			}
		}
		for _, there := range []int{actions, 5, 1} {
			differ := 0
			is := make([]bool, actions)
			for a := range there {
				is[a] = true
			}
			out := must.M1(CallOnceN(b, func(in []*Node) []*Node {
				s := rng.New(in[0]).At(in[2]).Named("policy")
				probabilities, action := Decide(p, in[1], Moment{Stream: s, Period: in[2],
					Available: BroadcastToDims(InsertAxes(in[3], 0), runs, actions)})
				return []*Node{probabilities, action}
			}, seeds, values, int32(11), is))
			want, action := out[0].Value().([][]float32), tensors.MustCopyFlatData[int32](out[1])
			for i := range runs {
				var flat []float32
				for _, f := range values[i] {
					flat = append(flat, f[:there]...)
				}
				got, taken := p.DecideOnHost(flat, there, rng.NewHost(seeds[i]).At(11).Named("policy"), 11)
				if taken == int(action[i]) && slices.EqualFunc(got, want[i][:there], func(a, b float32) bool {
					return math.Abs(float64(a-b)) < 1e-6
				}) {
					continue
				}
				if _, ids := p.(IDS); ids { // its program adds in single precision
					r, v, _ := informationOnHost(flat, there)
					if off := math.Abs(ratio(got, r, v)/ratio(want[i][:there], r, v) - 1); off < 1e-4 {
						differ++
						continue
					}
				}
				t.Fatalf("%s, run %d: action %d of %v, want %d of %v",
					fmt.Sprintf("%#v", p), i, taken, got, action[i], want[i])
			}
			if differ > runs/4 {
				t.Errorf("%#v: %d of %d decisions differ from the programs', want at most a quarter", p, differ, runs)
			}
		}
	}
}

// UCB decides from the distributions of values exactly as from the values, to the bit.
func TestUCBByNormals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		actions := 1 + r.IntN(12)
		p := UCB{N: 1 + r.IntN(120), Quantile: 0.05 + 0.95*r.Float64()}
		mean, sd := make([]float32, actions), make([]float32, actions)
		for a := range mean {
			mean[a], sd[a] = float32(r.NormFloat64())/10, r.Float32()
		}
		z := rng.NewHost(uint64(i)).Named("z")
		values := make([]float32, p.Samples()*actions)
		z.Normal(values)
		for k := range values {
			values[k] = mean[k%actions] + float32(sd[k%actions]*values[k])
		}
		want, action := p.DecideOnHost(values, actions, rng.NewHost(1), 0)
		if got, by := p.DecideByNormals(mean, sd, z); by != action || !slices.Equal(got, want) {
			t.Fatalf("case %d: got action %d, and %d by values", i, by, action)
		}
	}
}
