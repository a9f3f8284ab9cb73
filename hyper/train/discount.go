package train

import (
	"fmt"
	"maps"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/gomlx/compute/dtypes"
)

// With a Config.Discount gamma a datum that is n data old counts as gamma^n of one, and the prior as much as ever: a
// belief forgets what it learned long ago, and without data goes back to the prior (Kulhavy and Zarrop 1993; Russac,
// Vernade and Cappe 2019). With the precision P = Q^-1 of the data and the prior
//
//	P <- g P + (1 - g) I,   mu <- g Q' P mu
//
// which needs no inverse: with E = (1 - g)(I - S^T S) and F = (1 - g)(I - S S^T), both at most 1 - g,
//
//	S <- S (I - E)^-1/2,   mu <- g (I - F)^-1 mu
//
// by their power series. That is products of matrices, so it is done for each forgotten data at once, with g = gamma^n:
// data that came between two such times count the same.

// leastDiscount is the smallest gamma whose series are short.
const leastDiscount = 0.9

// checkDiscount reports a Discount that is out of range, or of a way that cannot forget.
func (p problem) checkDiscount() error {
	switch {
	case p.Discount == 0:
		return nil
	case !(p.Discount >= leastDiscount && p.Discount <= 1):
		return fmt.Errorf("Discount must be from %v to 1, got %v", leastDiscount, p.Discount)
	case p.Discount < 1 && (p.Conjugate == nil || p.Integrate != Exact):
		return fmt.Errorf("Discount needs a belief that is its own posterior, such as hyper.BayesianLinear, not %T; a window "+
			"of the data forgets too", p.belief)
	}
	return nil
}

// Forgets is after how many data Observe discounts them all at once, so that g is 0.95 or more where gamma allows; 0
// where it never does.
func (c Config) Forgets() int {
	if c.Discount == 0 || c.Discount == 1 {
		return 0
	}
	return max(1, int(math.Log(0.95)/math.Log(c.Discount)))
}

// Forget discounts what the state knows of its data, as Observe does each time that so many more are there as Forgets
// says. Who calls it when that is due, on a Config without a Discount, saves the work that Observe makes each time.
func (t Trainer) Forget(state State) State {
	out := maps.Clone(state)
	g := Scalar(state["nu.1"].Graph(), dtypes.Float64, math.Pow(t.Discount, float64(t.Forgets())))
	t.problem().discount(out, g)
	return out
}

// forget discounts if it is time after size data, an int32 scalar.
func (p problem) forget(state State, size *Node) {
	every := p.Forgets()
	if every == 0 {
		return
	}
	due := And(GreaterThan(size, ScalarZero(size.Graph(), dtypes.Int32)),
		Equal(ModScalar(size, int32(every)), ScalarZero(size.Graph(), dtypes.Int32)))
	all := Scalar(size.Graph(), dtypes.Float64, 1)
	p.discount(state, Where(due, MulScalar(all, math.Pow(p.Discount, float64(every))), all))
}

// discount lets the data count g times as much, a float64 scalar.
func (p problem) discount(state State, g *Node) {
	names := []string{"nu.0"}
	if p.Standardize {
		names = []string{"response.y", "response.one"}
	}
	s := state["nu.1"]
	for _, name := range names {
		state[name] = discountedMean(g, s, state[name])
	}
	state["nu.1"] = discountedRoot(g, s)
}

// series are the coefficients of (1 - x)^-1/2, from the fourth power down.
var series = []float64{35.0 / 128, 5.0 / 16, 3.0 / 8, 1.0 / 2, 1}

// discountedRoot is S (I - E)^-1/2 of roots S, [runs, blocks, size, size].
func discountedRoot(g, s *Node) *Node {
	row, column := Iota(s.Graph(), s.Shape(), 2), Iota(s.Graph(), s.Shape(), 3)
	one := ConvertDType(Equal(row, column), dtypes.Float64)
	e := Mul(Sub(one, Einsum("rbkp,rbkq->rbpq", s, s)), OneMinus(g))
	root := MulScalar(one, series[0])
	for _, c := range series[1:] {
		root = Add(Einsum("rbpk,rbkq->rbpq", root, e), MulScalar(one, c))
	}
	return Einsum("rbpk,rbkq->rbpq", s, root)
}

// discountedMean is g (I - F)^-1 mu, [runs, blocks * size].
func discountedMean(g, s, mu *Node) *Node {
	v := Reshape(mu, s.Shape().Dim(0), s.Shape().Dim(1), s.Shape().Dim(2))
	u := v
	for range 10 {
		back := Einsum("rbkp,rbk->rbp", s, u)
		u = Add(v, Mul(Sub(u, Einsum("rbpk,rbk->rbp", s, back)), OneMinus(g)))
	}
	return Reshape(Mul(u, g), mu.Shape().Dimensions...)
}
