package agent

import (
	"math"
	"slices"
	"sync"
)

// encoder is an Encoding with the statistics of the numbers seen so far. It is safe for concurrent use.
type encoder struct {
	Encoding
	*seen
}

// seen holds the statistics of the numbers of contexts and actions.
type seen struct {
	mu      sync.Mutex
	context spread
	action  spread
}

func newEncoder(e *Encoding) *encoder {
	if e == nil {
		return nil
	}
	return &encoder{*e, &seen{context: newSpread(e.Context), action: newSpread(e.Action)}}
}

// inputs returns the inputs of a menu that has been checked. If own is true, the numbers of the menu count in the
// statistics that standardise them.
func (e *encoder) inputs(m Menu, own bool) [][]float32 {
	if e.Standardize {
		m = e.standardised(m, own)
	}
	if e.Arms == 0 {
		x := make([][]float32, len(m.Actions))
		for i, own := range m.Actions {
			x[i] = e.input(own, m.Context)
		}
		return x
	}
	arms := m.Arms
	if arms == nil {
		arms = allArms(e.Arms)
	}
	x := make([][]float32, len(arms))
	for i, arm := range arms {
		x[i] = e.ofArm(arm, m.Context)
	}
	return x
}

// standardised returns the menu with standardised numbers.
func (e *encoder) standardised(m Menu, own bool) Menu {
	e.mu.Lock()
	context, action := e.seen.context.copied(), e.seen.action.copied()
	e.mu.Unlock()
	if own {
		count(m, &context, &action)
	}
	out := Menu{Context: context.of(m.Context), Arms: m.Arms, Actions: make([][]float32, len(m.Actions))}
	for i, x := range m.Actions {
		out.Actions[i] = action.of(x)
	}
	return out
}

// count adds the numbers of a menu to the statistics, after a decision about the menu.
func (e *encoder) count(m Menu) {
	if e == nil || !e.Standardize {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	count(m, &e.seen.context, &e.seen.action)
}

func count(m Menu, context, action *spread) {
	context.add(m.Context)
	for _, x := range m.Actions {
		action.add(x)
	}
}

// spreads returns copies of the statistics for a file; nil if numbers are not standardised.
func (e *encoder) spreads() (context, action *spread) {
	if e == nil || !e.Standardize {
		return nil, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c, a := e.seen.context.copied(), e.seen.action.copied()
	return &c, &a
}

// restore sets the statistics to what a file has stored.
func (e *encoder) restore(context, action *spread) {
	if e == nil || !e.Standardize {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen.context, e.seen.action = *context, *action
}

// spread has the mean and the sum of squared deviations of each number so far, by Welford (1962). After the first few,
// a number counts as at most farDeviations away from the mean, so that a single wrong one does no lasting harm.
type spread struct {
	Count float64
	Mean  []float64
	M2    []float64
}

func newSpread(width int) spread {
	return spread{Mean: make([]float64, width), M2: make([]float64, width)}
}

func (s *spread) copied() spread { return spread{s.Count, slices.Clone(s.Mean), slices.Clone(s.M2)} }

func (s *spread) add(x []float32) {
	s.Count++
	for i, v := range x {
		value := float64(v)
		if far := farDeviations * s.deviation(i, s.Count-1); far > 0 && s.Count > fewNumbers {
			value = min(max(value, s.Mean[i]-far), s.Mean[i]+far)
		}
		off := value - s.Mean[i]
		s.Mean[i] += off / s.Count
		s.M2[i] += off * (value - s.Mean[i])
	}
}

// mostDeviations is the largest absolute value of a standardised number, in standard deviations.
const mostDeviations = 5

// farDeviations is the distance from the mean, in standard deviations, that a number counts with at most. The first
// fewNumbers count as they are, because their standard deviation is not known. With 5, Contextual makes 4% more
// mistakes than without a limit on the data set segment, whose columns have heavy tails.
const farDeviations, fewNumbers = 30, 10

// deviation returns the standard deviation of the i-th number, if M2 has n numbers.
func (s *spread) deviation(i int, n float64) float64 { return math.Sqrt(s.M2[i] / max(n-1, 1)) }

// of returns the standardised numbers. A number that has always been the same becomes 0.
func (s *spread) of(x []float32) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		if sd := s.deviation(i, s.Count); sd > 0 {
			out[i] = float32(min(max((float64(v)-s.Mean[i])/sd, -mostDeviations), mostDeviations))
		}
	}
	return out
}

// valid reports whether a spread from a file is possible for numbers of a width.
func (s spread) valid(width int) bool {
	ok := len(s.Mean) == width && len(s.M2) == width && s.Count >= 0 && !notFinite(s.Count)
	for i := range s.Mean {
		ok = ok && i < len(s.M2) && !notFinite(s.Mean[i]) && s.M2[i] >= 0 && !notFinite(s.M2[i])
	}
	return ok
}
