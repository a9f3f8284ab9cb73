package study

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Range is the range in which a number is claimed to lie. An end may be infinite.
type Range struct{ Above, Below float64 }

// Below returns the range of the numbers below a bound.
func Below(bound float64) Range { return Range{math.Inf(-1), bound} }

// Above returns the range of the numbers above a bound.
func Above(bound float64) Range { return Range{bound, math.Inf(1)} }

// Within returns the range from 1/factor to factor, for the ratio of two numbers that are claimed to be alike.
func Within(factor float64) Range { return Range{1 / factor, factor} }

func (r Range) String() string {
	switch {
	case math.IsInf(r.Above, -1):
		return fmt.Sprintf("below %.3g", r.Below)
	case math.IsInf(r.Below, 1):
		return fmt.Sprintf("above %.3g", r.Above)
	}
	return fmt.Sprintf("between %.3g and %.3g", r.Above, r.Below)
}

// Part is one comparison of a sentence, with its evidence.
type Part struct {
	Text  string // the comparison in words
	Claim Range  // the claimed range of the number
	// Value is the number, and Lower and Upper are the ends of its interval at [stats.Level]. They are NaN if there is
	// no number.
	Value, Lower, Upper stats.Float
	// For and Against are one-sided p-values. For is small if the number lies in the claimed range, and Against is
	// small if the number lies outside it.
	For, Against float64
	Pairs        int // number of pairs of runs
	Periods      int
	Diverged     [2]int  // number of diverged runs of the first agent, and of the second
	Scale        float64 // for a difference, the mean regret of the first agent; 0 for a ratio
	Missing      string  // runs that are missing, in words, or ""
	Decide       string  // what would decide the part if no number of runs can, or ""
}

// Ratio compares the mean regrets of two agents, paired by seed.
func (a *Archive) Ratio(text string, claim Range, x, y Source) (Part, error) {
	part := Part{Text: text, Claim: claim, Periods: x.Periods}
	return part.fill(a, func(runs []Runs, seeds []uint64) (stats.Paired, stats.Estimate) {
		part.Diverged = [2]int{runs[0].Diverged, runs[1].Diverged}
		one, other := regrets(runs[0], seeds), regrets(runs[1], seeds)
		return stats.Ratio(one, other), stats.RatioOfRegrets(one, other)
	}, x, y)
}

// Gap compares differences between four agents: it returns the mean of (x - y) - (u - v), paired by seed.
func (a *Archive) Gap(text string, claim Range, x, y, u, v Source) (Part, error) {
	part := Part{Text: text, Claim: claim, Periods: x.Periods}
	return part.fill(a, func(runs []Runs, seeds []uint64) (stats.Paired, stats.Estimate) {
		part.Diverged = [2]int{runs[0].Diverged + runs[2].Diverged, runs[1].Diverged + runs[3].Diverged}
		difference := make([]float64, len(seeds))
		for i, s := range seeds {
			difference[i] = runs[0].Regret[s] - runs[1].Regret[s] - (runs[2].Regret[s] - runs[3].Regret[s])
		}
		part.Scale = float64(stats.MeanRegret(regrets(runs[0], seeds)).Value)
		return stats.Mean(difference), stats.MeanDifference(difference)
	}, x, y, u, v)
}

// fill sets the evidence from the runs of some sources, over the seeds that all sources have.
func (p *Part) fill(a *Archive, statistic func([]Runs, []uint64) (stats.Paired, stats.Estimate), sources ...Source) (Part, error) {
	nan := stats.Float(math.NaN())
	p.Value, p.Lower, p.Upper, p.For, p.Against = nan, nan, nan, 1, 1
	var runs []Runs
	for _, s := range sources {
		r, err := a.Runs(s)
		if few := (missing{}); errors.As(err, &few) {
			p.Missing = few.Error()
			return *p, nil
		} else if err != nil {
			return *p, err
		}
		runs = append(runs, r)
	}
	var seeds []uint64
	for _, seed := range slices.Sorted(maps.Keys(runs[0].Regret)) {
		everywhere := true
		for _, r := range runs[1:] {
			_, found := r.Regret[seed]
			everywhere = everywhere && found
		}
		if everywhere {
			seeds = append(seeds, seed)
		}
	}
	if len(seeds) < 2 {
		return *p, fmt.Errorf("%s: the agents have %d seeds in common, but a comparison needs at least "+
			"2", p.Text, len(seeds))
	}
	p.judge(statistic(runs, seeds))
	return *p, nil
}

// judge sets the number and the results of its tests.
func (p *Part) judge(s stats.Paired, e stats.Estimate) {
	p.Value, p.Lower, p.Upper, p.Pairs = e.Value, e.Lower, e.Upper, s.Pairs
	p.For, p.Against = 0, 1
	if !math.IsInf(p.Claim.Below, 1) {
		p.For, p.Against = max(p.For, s.PBelow(p.Claim.Below)), min(p.Against, s.PAbove(p.Claim.Below))
	}
	if !math.IsInf(p.Claim.Above, -1) {
		p.For, p.Against = max(p.For, s.PAbove(p.Claim.Above)), min(p.Against, s.PBelow(p.Claim.Above))
	}
}

// Relative returns the number relative to its claimed bound: it is below 1 if the claim is true of the number. A number
// between two bounds is compared with the nearer one. A difference becomes exp(-(difference - bound) / Scale).
func (p Part) Relative() (value, lower, upper float64) {
	value, lower, upper = float64(p.Value), float64(p.Lower), float64(p.Upper)
	switch {
	case p.Scale > 0:
		of := func(x float64) float64 { return math.Exp(-(x - p.Claim.Above) / p.Scale) }
		return of(value), of(upper), of(lower)
	case math.IsInf(p.Claim.Above, -1):
		return value / p.Claim.Below, lower / p.Claim.Below, upper / p.Claim.Below
	}
	of := func(x float64) float64 { return max(x/p.Claim.Below, p.Claim.Above/x) }
	first, second := of(lower), of(upper)
	nearest := min(first, second)
	if middle := math.Sqrt(p.Claim.Above * p.Claim.Below); lower < middle && middle < upper {
		nearest = of(middle)
	}
	return of(value), nearest, max(first, second)
}

func regrets(r Runs, seeds []uint64) []float64 {
	out := make([]float64, len(seeds))
	for i, seed := range seeds {
		out[i] = r.Regret[seed]
	}
	return out
}
