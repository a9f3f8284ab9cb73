package agent

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// blocksConfig returns the Config of an agent that learns in plain Go, with one block per arm, in a context of 2
// numbers. phi has 5 numbers.
func blocksConfig(blocks int, on string) Config {
	return Config{Seed: 3, Features: 3, Backend: on, Learner: learner.Learner{
		Belief: hyper.BayesianLinear{Features: 3, Blocks: blocks, Numbered: true, Waves: 2, Length: 1},
		Policy: explore.UCB{Quantile: 0.84}, NoiseVariance: 0.1, Train: train.Config{Standardize: true},
	}}
}

// linesConfig has a line beside the cosines.
func linesConfig(blocks int, on string) Config {
	c := blocksConfig(blocks, on)
	b := c.Learner.Belief.(hyper.BayesianLinear)
	b.Line = true
	c.Learner.Belief = b
	return c
}

// byPrograms makes an agent learn by programs.
func byPrograms(a *Agent) *Agent {
	s := must.M1(a.wholeOf(a.now, nil))
	s.setLearned(nil)
	a.learner = nil
	a.become(s)
	return a
}

// An agent that learns in plain Go has the same belief as one that learns by programs, and draws its decisions with the
// same random numbers, even with more arms than the columns of its programs.
func TestLearnsAsPrograms(t *testing.T) {
	for i, blocks := range []int{3, 3, 48} { // programs pad neither 6 inputs nor 96
		c := blocksConfig(blocks, backend.Go)
		if i > 0 {
			c = linesConfig(blocks, backend.Go)
		}
		a, b := must.M1(New(c)), byPrograms(must.M1(New(c)))
		r := rand.New(rand.NewPCG(1, 2))
		x := func(block int) []float32 {
			return []float32{float32(block), float32(r.NormFloat64()), float32(r.NormFloat64())}
		}
		for range 40 {
			at, y := x(r.IntN(blocks)), float32(5+3*r.NormFloat64())
			must.M(errors.Join(a.Told(at, y), b.Told(at, y)))
		}
		if a.Rounds() != 40 || a.Size() != 40 {
			t.Errorf("got %d rounds on %d data, want 40 and 40", a.Rounds(), a.Size())
		}
		var inputs [][]float32
		for i := range blocks {
			inputs = append(inputs, x(i), x(i))
		}
		own := must.M1(a.Sample(inputs, 10))
		_, held := b.belief()
		defer held.drop()
		programs := must.M1(b.ask(shape{functions: 10, inputs: padded(len(inputs))}, held, inputs, 0))
		want := must.M1(narrow(programs[0]))
		for k, f := range own {
			for i, v := range f {
				if off := math.Abs(float64(v - want[k*padded(len(inputs))+i])); off > 2e-3 {
					t.Fatalf("%d blocks: function %d is off by %g at input %d", blocks, k, off, i)
				}
			}
		}
	}
}

// An agent that is saved after any number of data and loaded continues to the byte as one that is not.
func TestLearnedResumes(t *testing.T) {
	for i, stop := range []int{0, 1, 5, 12, 13} {
		c, path := linesConfig(3, backend.Go), filepath.Join(t.TempDir(), "agent")
		c.Learner.Train.Discount = []float64{1, 0.9}[i%2]
		a, r := must.M1(New(c)), rand.New(rand.NewPCG(1, 2))
		b := a
		for i := range 20 {
			if i == stop {
				must.M(a.Save(path))
				b = must.M1(Load(c, path))
			}
			x, y := []float32{float32(r.IntN(3)), float32(r.NormFloat64()), 1}, float32(r.NormFloat64())
			must.M(a.Told(x, y))
			if b != a {
				must.M(b.Told(x, y))
			}
		}
		if !maps.Equal(a.Whole(), b.Whole()) {
			t.Errorf("saved after %d data: the loaded agent differs after 20 data", stop)
		}
		for range 5 {
			menu := [][]float32{{0, 1, 0.5}, {1, 1, 0.5}, {2, 1, 0.5}}
			one, other := must.M1(a.Act(t.Context(), menu)), must.M1(b.Act(t.Context(), menu))
			if !reflect.DeepEqual(one.Nameless(), other.Nameless()) {
				t.Errorf("saved after %d data: the loaded agent decides %v, want %v", stop, other, one)
			}
		}
	}
}

// A file from the version before agents learned in plain Go, whose agent learned by programs, gives the functions that
// version drew.
func TestLoadsWhatProgramsLearned(t *testing.T) {
	a := must.M1(Load(blocksConfig(2, backend.Go), filepath.Join("testdata", "blocks-4")))
	got := must.M1(a.Sample([][]float32{{0, 1, 0.5}, {1, -1, 0.25}, {0, 0.5, -1}}, 3))
	for k, f := range [][]float32{{3.074517, 2.657872, 3.2435822}, {2.9654927, 2.9863036, 3.2097664},
		{2.963645, 2.6920512, 2.7700686}} {
		for i, want := range f {
			if math.Abs(float64(got[k][i]-want)) > 1e-4 {
				t.Errorf("function %d is %v at input %d, want %v", k, got[k][i], i, want)
			}
		}
	}
	if a.learner == nil || a.Size() != 12 {
		t.Errorf("got %d data, learned in plain Go: %v, want 12 and true", a.Size(), a.learner != nil)
	}
}

// A datum that makes the state not finite is refused, and the agent is unchanged: a noise of 1e-60 is 0 in single
// precision.
func TestLearnedDiverges(t *testing.T) {
	c := blocksConfig(2, backend.Go)
	c.Learner.NoiseVariance = 1e-60
	a := must.M1(New(c))
	before := a.Whole()
	if err := a.Told([]float32{1, 1, 1}, 1); !errors.Is(err, ErrNotFinite) {
		t.Error(err)
	}
	if !maps.Equal(before, a.Whole()) {
		t.Error("a failed call has changed the agent")
	}
}

// A restart gives the agent its state from before all data.
func TestLearnedRestarts(t *testing.T) {
	a := must.M1(New(blocksConfig(2, backend.Go)))
	fresh := a.Whole()
	must.M(a.Told([]float32{1, 1, 1}, 1))
	taught := a.Whole()
	a.become(must.M1(a.restarted(a.now)))
	if !maps.Equal(a.Whole(), fresh) || maps.Equal(taught, fresh) || a.now.learned == nil {
		t.Error("the agent differs from an agent without data")
	}
}
