package approx

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
)

// Custom is a law given by a transport map of one's own.
type Custom struct {
	// Map returns the transport map from a reference distribution, or an error where there is none.
	Map func(r Reference) (Map, error)
	// Draw writes a draw of the law to f, independently of the map. nil: the map at a fresh z, if there is one from [Uniform].
	Draw func(rnd *rand.Rand, f []float64)
}

var _ Law = Custom{}

// probes is the number of draws that are looked at for values outside [-B, B].
const probes = 1000

// Check reports a missing map, and draws outside [-b, b].
func (l Custom) Check(k int, b float64) []error {
	if l.Map == nil {
		return []error{errors.New("a custom law needs a transport map")}
	}
	if l.Draw == nil {
		return nil
	}
	rnd, f := source(0, "probe"), make([]float64, k)
	for range probes {
		l.Draw(rnd, f)
		if err := checkInside("a draw", f, b); err != nil {
			return []error{err}
		}
	}
	return nil
}

// Sample draws a function.
func (l Custom) Sample(rnd *rand.Rand, _ float64, f []float64) {
	if l.Draw != nil {
		l.Draw(rnd, f)
		return
	}
	h, err := l.Map(Uniform)
	if err != nil {
		panic(fmt.Sprintf("a custom law without Draw and without a map from uniform z: %v", err))
	}
	z := make([]float64, len(f))
	Uniform.Draw(rnd, z)
	h.At(z, f)
}

// Transport returns the map, after a look at its values at some z.
func (l Custom) Transport(_ context.Context, r Reference, k int, b float64, seed uint64) (Map, error) {
	h, err := l.Map(r)
	if err != nil {
		return nil, err
	}
	for _, f := range apply(h.At, draws(r, source(seed, "probe"), probes, k), k) {
		if err := checkInside("H(z)", f, b); err != nil {
			return nil, err
		}
	}
	return h, nil
}
