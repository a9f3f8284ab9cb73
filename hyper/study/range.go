package study

import (
	"fmt"
	"math"
)

// Range is the range in which a number is claimed to lie. An end may be infinite.
type Range struct{ Above, Below float64 }

// Below returns the range of the numbers below a bound.
func Below(bound float64) Range { return Range{math.Inf(-1), bound} }

// Above returns the range of the numbers above a bound.
func Above(bound float64) Range { return Range{bound, math.Inf(1)} }

// Within returns the range from 1/factor to factor, for the ratio of two numbers that are claimed to be alike.
func Within(factor float64) Range { return Range{1 / factor, factor} }

// String describes the range in words, as in "below 1.25".
func (r Range) String() string {
	switch {
	case !r.hasFloor():
		return fmt.Sprintf("below %.3g", r.Below)
	case !r.hasCeiling():
		return fmt.Sprintf("above %.3g", r.Above)
	}
	return fmt.Sprintf("between %.3g and %.3g", r.Above, r.Below)
}

func (r Range) hasFloor() bool   { return !math.IsInf(r.Above, -1) }
func (r Range) hasCeiling() bool { return !math.IsInf(r.Below, 1) }

// pValues returns one-sided p-values of a number. inside is small if the number lies in the range, and outside is small
// if it lies outside. pBelow and pAbove must return the p-value that is small if the number is below, or above, a
// bound. A number is inside a range of two bounds if both tests say so (Schuirmann's two one-sided tests). It is outside
// if one of them says so; this needs no correction where the bounds are many standard errors apart.
func (r Range) pValues(pBelow, pAbove func(bound float64) float64) (inside, outside float64) {
	outside = 1
	if r.hasCeiling() {
		inside, outside = max(inside, pBelow(r.Below)), min(outside, pAbove(r.Below))
	}
	if r.hasFloor() {
		inside, outside = max(inside, pAbove(r.Above)), min(outside, pBelow(r.Above))
	}
	return inside, outside
}
