package approx

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"
)

// Certify builds the theorem's network for a measure, and estimates from fresh z the probability that its error is at
// most Epsilon. It refines the network until the lower bound of the probability is at least 1 - Delta, or until the
// time or the number of attempts is used up. The certificate has the reached epsilon.
//
// Attempt i has error probability (1 - 0.99)/2^i, and its own z that no construction has used. Therefore the bounds of
// all attempts hold together with confidence 0.99. Before an attempt uses its fresh z, a test on other z has to
// succeed.
//
// The error lists every fault of the measure and the options, or is the error of ctx.
func Certify(ctx context.Context, m Measure, o Options) (Certificate, error) {
	a, err := newAttempts(ctx, m, o)
	if err != nil {
		return Certificate{}, err
	}
	return a.run(ctx)
}

// Build returns the theorem's network for a measure, without a test of its error: the network that [Certify] tests
// first. It does not use the options Draws and Budget.
//
// The error lists every fault of the measure and the options, or is the error of ctx.
func Build(ctx context.Context, m Measure, o Options) (*Theorem, error) {
	a, err := newAttempts(ctx, m, o)
	if err != nil {
		return nil, err
	}
	return a.build(ctx, 0)
}

// confidence is the confidence of the lower bound, for all attempts together.
const confidence float64 = 0.99

// mostAttempts is the maximum number of levels of refinement.
const mostAttempts = 6

// attempts is the state of a call of Certify or Build.
type attempts struct {
	Measure
	Options
	h     Map
	start time.Time
	tests int // number of certificates so far
}

// newAttempts returns the state before the first attempt, with the transport map and the construction.
func newAttempts(ctx context.Context, m Measure, o Options) (*attempts, error) {
	start, o := time.Now(), o.withDefaults()
	if err := errors.Join(m.Validate(), o.Validate()); err != nil {
		return nil, err
	}
	h, err := m.Transport(ctx, o.Reference, o.Seed)
	if err != nil {
		return nil, err
	}
	if o.Construction == nil {
		o.Construction = natural(h)
	}
	return &attempts{Measure: m, Options: o, h: h, start: start}, nil
}

// run refines the network level by level.
func (a *attempts) run(ctx context.Context) (Certificate, error) {
	for level := 0; ; level++ {
		t, err := a.build(ctx, level)
		if err != nil {
			return Certificate{}, err
		}
		last := level+1 == mostAttempts || time.Since(a.start) > a.Budget
		if !last && !a.promising(t) {
			continue
		}
		c, err := a.certificate(ctx, t)
		if err != nil {
			return Certificate{}, err
		}
		c.Attempts, c.Seconds = level+1, time.Since(a.start).Seconds()
		if last || c.Certified || time.Since(a.start) > a.Budget {
			return c, nil
		}
	}
}

// build builds the theorem's network of a level.
func (a *attempts) build(ctx context.Context, level int) (*Theorem, error) {
	task := Task{
		Map: a.h, Reference: a.Reference, K: a.K(), Bound: a.Bound, Epsilon: a.Epsilon, Delta: a.Delta, Seed: a.Seed,
		Backend: a.Backend,
	}
	var box *Box
	if a.Reference == Gaussian {
		box = newBox(a.K(), a.Delta)
		task.Reach = box.reach()
	}
	inner, err := a.Construction.Build(ctx, task, level)
	if err != nil {
		return nil, err
	}
	return NewTheorem(a.Measure, a.Reference, inner, box), nil
}

// promising reports whether the network is good enough on z that no certificate uses. It evaluates the network on the
// host.
func (a *attempts) promising(t *Theorem) bool {
	const n = 10_000
	z := draws(a.Reference, source(a.Seed, "look"), n, a.K())
	within := count(supErrors(apply(t.near, z, a.K()), apply(a.h.At, z, a.K())), a.Epsilon)
	return float64(within)/n >= 1-a.Delta
}

// certificate evaluates the network on fresh z.
func (a *attempts) certificate(ctx context.Context, t *Theorem) (Certificate, error) {
	a.tests++
	z, err := Indices(a.Backend, a.Reference, a.K(), a.Seed, "certify", a.tests, a.Draws)
	if err != nil {
		return Certificate{}, err
	}
	f, err := t.Evaluate(ctx, a.Backend, z)
	if err != nil {
		return Certificate{}, err
	}
	errs := supErrors(f, apply(a.h.At, z, a.K()))
	within := count(errs, a.Epsilon)
	slices.Sort(errs)
	c := Certificate{
		Measure: a.Name, Points: a.K(), Bound: a.Bound, Epsilon: a.Epsilon, Delta: a.Delta,
		Reference: a.Reference, Construction: a.Construction.Name(),
		Draws: a.Draws, Within: within, Probability: float64(within) / float64(a.Draws), Confidence: confidence,
		LowerBound: lowerBound(within, a.Draws, 1-(1-confidence)*math.Exp2(float64(-a.tests))),
		Reached:    errs[min(int(math.Ceil((1-a.Delta)*float64(a.Draws))), a.Draws)-1],
		Widths:     t.Net.Widths(), Parameters: t.Net.Size(), FromIndex: a.K(), Constants: t.Net.Size() - a.K(),
		Seed: a.Seed, Backend: a.Backend,
	}
	c.Certified = c.LowerBound >= 1-a.Delta
	if b, ok := a.h.(*brenier); ok {
		c.MassError = b.missed
	}
	return c, nil
}

// supErrors returns the distances of corresponding rows in the sup norm.
func supErrors(f, g [][]float64) []float64 {
	out := make([]float64, len(f))
	for i := range f {
		for j := range f[i] {
			d := math.Abs(f[i][j] - g[i][j])
			if math.IsNaN(d) {
				d = math.Inf(1)
			}
			out[i] = max(out[i], d)
		}
	}
	return out
}

// count returns the number of errors that are at most epsilon.
func count(errs []float64, epsilon float64) int {
	n := 0
	for _, e := range errs {
		if e <= epsilon {
			n++
		}
	}
	return n
}
