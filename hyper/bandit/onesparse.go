package bandit

import (
	"errors"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/base"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/rng"
)

// OneSparse is the one-sparse linear bandit of section 5. The mean reward of an action x in R^N is x^T theta*, where
// theta* is one of the N one-hot vectors, all equally likely. The first N actions are the one-hot vectors. The others
// are 1_S/2 for N - 2 sublists S of (1, ..., N): all sublists that bisection makes, except for the whole list and
// single elements. N need not be a power of two: for an odd list, the second half is the larger one.
type OneSparse struct {
	fixedActions
	Size          int     `help:"N: number of components of theta*; there are 2N-2 actions"`
	NoiseVariance float64 `run:"true" help:"sigma_w^2: variance of the rewards' noise, which the agent knows"`
	NoiseFactor   float64 `run:"true" help:"the noise's true variance / noise-variance; 100 in the paper's text"`
}

var _ MeanReporter = &OneSparse{}

// NewOneSparse returns the bandit of section 5 with N = 50.
func NewOneSparse() *OneSparse { return &OneSparse{Size: 50, NoiseVariance: 0.01, NoiseFactor: 1} }

func (b *OneSparse) Validate() error {
	size := faults.AtLeast("size", b.Size, 2)
	if size == nil {
		size = faults.Size("the features of all actions, 2 x size x size,", 2, b.Size, b.Size)
	}
	return errors.Join(size, faults.Positive("noise-variance", b.NoiseVariance),
		faults.NotNegative("noise-factor", b.NoiseFactor))
}

// Problem returns the first two moments of theta*: each component has mean 1/N and variance (1 - 1/N)/N. sigma_p^2 is
// 1/log N as in the paper.
func (b *OneSparse) Problem() Problem {
	mean := 1 / float64(b.Size)
	return Problem{
		Actions: 2*b.Size - 2, Features: b.Size,
		NoiseVariance: b.NoiseVariance, PriorVariance: 1 / math.Log(float64(b.Size)),
		Truth: &Truth{
			Base:   base.Linear{Features: b.Size},
			StdDev: slices.Repeat([]float64{math.Sqrt(mean * (1 - mean))}, b.Size), Mean: mean, Variance: 1,
		},
	}
}

// Sublists returns the ends [from, to) of the sublists, in the order in which bisection makes them: halves, quarters,
// and so on.
func (b *OneSparse) Sublists() [][2]int {
	var out [][2]int
	for level := [][2]int{{0, b.Size}}; len(level) > 0; {
		var next [][2]int
		for _, s := range level {
			middle := (s[0] + s[1]) / 2
			for _, half := range [][2]int{{s[0], middle}, {middle, s[1]}} {
				if half[1]-half[0] > 1 {
					next = append(next, half)
				}
			}
		}
		out = append(out, next...)
		level = next
	}
	return out
}

// Actions returns the actions as rows, [2N-2][N].
func (b *OneSparse) Actions() [][]float32 {
	var out [][]float32
	for i := range b.Size {
		x := make([]float32, b.Size)
		x[i] = 1
		out = append(out, x)
	}
	for _, s := range b.Sublists() {
		x := make([]float32, b.Size)
		for i := s[0]; i < s[1]; i++ {
			x[i] = 0.5
		}
		out = append(out, x)
	}
	return out
}

// Init draws theta*. The state has the actions, [runs, 2N-2, N], and their mean rewards, [runs, 2N-2].
func (b *OneSparse) Init(s rng.Stream, _ hyper.Numbers) State {
	one := Const(s.Graph(), b.Actions())
	actions := BroadcastToDims(InsertAxes(one, 0), append([]int{s.Runs()}, one.Shape().Dimensions...)...)
	theta := OneHot(Squeeze(s.Named("theta").Intn(Const(s.Graph(), int32(b.Size)), 1), 1), b.Size, dtypes.Float32)
	return State{"actions": actions, "mean": Einsum("rn,an->ra", theta, one)}
}

// Step returns the reward x^T theta* + W.
func (b *OneSparse) Step(state State, n hyper.Numbers, s rng.Stream, _, x *Node) (Outcome, State) {
	variance := Mul(n.Of(s, "NoiseVariance", b.NoiseVariance), n.Of(s, "NoiseFactor", b.NoiseFactor))
	return reply(s, state["mean"], x, Sqrt(variance)), state
}
