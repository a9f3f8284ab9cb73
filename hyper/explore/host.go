package explore

import (
	"cmp"
	"math"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/rng"
)

// Hosted is a policy that can also decide in plain Go, for one run, without a compiled program. A policy that embeds a
// Hosted policy does not count as Hosted, because it may decide in another way.
type Hosted interface {
	Policy
	// DecideOnHost returns the same as Decide, up to rounding, for finite values. values holds Samples rows of the
	// given number of actions, one row after the other. period is the number of decisions taken before.
	DecideOnHost(values []float32, actions int, s rng.Host, period int32) (probabilities []float32, action int)
}

// HostedNormal is a Hosted policy that can also decide from the normal distributions of values, which needs less work
// than the values themselves. A policy that embeds a HostedNormal policy does not count as HostedNormal.
type HostedNormal interface {
	Hosted
	// DecideByNormals returns the same as DecideOnHost for the values mean[a] + sd[a] z[k][a], where z
	// [Samples][actions] are the normal numbers of the stream.
	DecideByNormals(mean, sd []float32, z rng.Host) (probabilities []float32, action int)
}

var (
	_ HostedNormal = UCB{}

	_ Hosted = Thompson{}
	_ Hosted = UCB{}
	_ Hosted = Greedy{}
	_ Hosted = EpsilonGreedy{}
	_ Hosted = IDS{}
)

// DecideOnHost takes the best action of the first function.
func (p Thompson) DecideOnHost(values []float32, actions int, _ rng.Host, _ int32) ([]float32, int) {
	counts := make([]float32, actions)
	for f := range slices.Chunk(values, actions) {
		counts[highest(f)]++
	}
	for i := range counts {
		counts[i] /= float32(len(values) / actions)
	}
	return counts, highest(values[:actions])
}

// highest returns the index of the largest number; among equal numbers, the first.
func highest(x []float32) (at int) {
	for i, v := range x {
		if v > x[at] {
			at = i
		}
	}
	return at
}

// DecideOnHost takes the action with the largest quantile.
func (p UCB) DecideOnHost(values []float32, actions int, _ rng.Host, _ int32) ([]float32, int) {
	n := len(values) / actions
	k, score, own := p.rank(n), make([]float32, actions), make([]float32, n)
	for a := range score {
		for i := range own {
			own[i] = values[i*actions+a]
		}
		score[a] = hostSmallest(own, k)
	}
	return certainly(score)
}

// DecideByNormals takes the action with the largest quantile. A value increases with the random word of its normal
// number. DecideByNormals therefore selects among words, and computes only one normal number for each action.
func (p UCB) DecideByNormals(mean, sd []float32, z rng.Host) ([]float32, int) {
	n, actions := p.Samples(), len(mean)
	words, own, score := make([]uint32, n*actions), make([]uint32, n), make([]float32, actions)
	z.Bits(words)
	k := p.rank(n)
	for a := range score {
		for i := range own {
			own[i] = words[i*actions+a]
		}
		score[a] = mean[a] + float32(sd[a]*rng.NormalOf(hostSmallest(own, k)))
	}
	return certainly(score)
}

// hostSmallest returns the k-th smallest of finite numbers, counted from 1. It changes their order. It is Hoare's
// selection (1961).
func hostSmallest[T cmp.Ordered](x []T, k int) T {
	for k--; len(x) > 1; {
		pivot, i, j := x[len(x)/2], 0, len(x)-1
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			x = x[:j+1]
		case k >= i:
			x, k = x[i:], k-i
		default: // all numbers between i and j equal the pivot
			return pivot
		}
	}
	return x[0]
}

// rank returns k such that the k-th smallest of n values is their quantile.
func (p UCB) rank(n int) int {
	return min(max(int(math.Ceil(cmp.Or(p.Quantile, 0.95)*float64(n)-1e-9)), 1), n)
}

// DecideOnHost takes the best action of the mean.
func (p Greedy) DecideOnHost(values []float32, actions int, _ rng.Host, _ int32) ([]float32, int) {
	return certainly(means(values, actions))
}

// means returns the mean values of the actions over functions.
func means(values []float32, actions int) []float32 {
	out := make([]float32, actions)
	for f := range slices.Chunk(values, actions) {
		for a, v := range f {
			out[a] += v
		}
	}
	for a := range out {
		out[a] /= float32(len(values) / actions)
	}
	return out
}

// certainly takes the action with the largest score with probability 1.
func certainly(score []float32) (probabilities []float32, action int) {
	probabilities, action = make([]float32, len(score)), highest(score)
	probabilities[action] = 1
	return probabilities, action
}

// DecideOnHost takes a uniformly random action with probability epsilon_t, and otherwise the best action of the mean.
func (p EpsilonGreedy) DecideOnHost(values []float32, actions int, s rng.Host, period int32) ([]float32, int) {
	c := cmp.Or(float32(p.Anneal), 30)
	epsilon := c / (c + float32(period))
	probabilities, action := certainly(means(values, actions))
	for a := range probabilities {
		probabilities[a] = probabilities[a]*(1-epsilon) + epsilon/float32(actions)
	}
	var u [1]float32
	if s.Named("explore").Uniform(u[:]); u[0] < epsilon {
		var any [1]int32
		s.Named("uniform").Intn(actions, any[:])
		action = int(any[0])
	}
	return probabilities, action
}

// DecideOnHost draws an action from the minimiser of the information ratio.
func (p IDS) DecideOnHost(values []float32, actions int, s rng.Host, _ int32) ([]float32, int) {
	regret, variance, best := informationOnHost(values, actions)
	if p.OnlyCandidates {
		worse := 2*slices.Max(regret) + 1 // as in Decide
		for a, is := range best {
			if !is {
				regret[a], variance[a] = worse, 0
			}
		}
	}
	first, second, weight := minimumRatioOnHost(regret, variance)
	probabilities, action := make([]float32, actions), first
	probabilities[first] = 1 - weight
	probabilities[second] += weight
	var u [1]float32
	if s.Named("ids").Uniform(u[:]); u[0] < weight {
		action = second
	}
	return probabilities, action
}

// informationOnHost is [Information] in plain Go. best marks the actions that are best for some function.
func informationOnHost(values []float32, actions int) (regret, variance []float32, best []bool) {
	type group struct { // functions with the same best action
		sum   []float64
		count float64
	}
	var groups []group
	groupOf := make([]int, actions) // the number of the group of a best action, counted from 1
	worse, top := make([]float64, actions), 0.0
	best = make([]bool, actions)
	for f := range slices.Chunk(values, actions) {
		own := highest(f)
		if !best[own] {
			groups = append(groups, group{sum: make([]float64, actions)})
			best[own], groupOf[own] = true, len(groups)
		}
		g := &groups[groupOf[own]-1]
		for a, v := range f {
			g.sum[a] += float64(v)
			worse[a] += float64(f[own]) - float64(v) // exactly 0 if a is a best action of every function
		}
		g.count++
		top += float64(f[own])
	}
	n := float64(len(values) / actions)
	regret, variance = make([]float32, actions), make([]float32, actions)
	for a := range regret {
		mean, moved := (top-worse[a])/n, 0.0
		for _, g := range groups {
			d := g.sum[a]/g.count - mean
			moved += g.count * d * d
		}
		regret[a], variance[a] = float32(worse[a]/n), float32(moved/n)
	}
	return regret, variance, best
}

// minimumRatioOnHost is [MinimumRatio] in plain Go, step by step. second has probability weight, and first has the
// rest.
func minimumRatioOnHost(regret, variance []float32) (first, second int, weight float32) {
	r, v := unitOnHost(regret), unitOnHost(variance)
	x, y := 0, 0
	for a := range r {
		if r[a] < r[x] || r[a] == r[x] && v[a] > v[x] {
			x = a
		}
		if v[a] > v[y] || v[a] == v[y] && r[a] < r[y] {
			y = a
		}
	}
	if r[x] == 0 || v[y] == 0 {
		return x, x, 0
	}
	low, high := r[x], r[y]*r[y]/max(r[x], 1e-30)
	for i := range rounds {
		var t float32
		if dr, dv := r[y]-r[x], v[y]-v[x]; i%3 == 2 {
			t = sqrt(low) * sqrt(high)
		} else {
			t = math.MaxFloat32
			if dv > 0 {
				t = 2 * dr / max(dv, 1e-30)
			}
			t = max(min(t, r[x]/max(v[x], 1e-30)), r[y]/max(v[y], 1e-30))
		}
		score := func(a int) float32 { return 2*r[a] - t*v[a] }
		w, least := 0, score(0)
		for a := range r {
			s := score(a)
			if s < least || s == least && (v[a] > v[w] || v[a] == v[w] && r[a] < r[w]) {
				w, least = a, s
			}
		}
		rising := r[w] > t*v[w]
		if least < score(x) && least < score(y) {
			if rising {
				x = w
			} else {
				y = w
			}
		}
		if rising {
			low = max(low, t)
		} else {
			high = min(high, t)
		}
	}
	return x, y, weighOnHost(r[y]-r[x], v[y]-v[x], r[x], v[x])
}

// weighOnHost is weigh in plain Go. dr and dv are the differences of y from x.
func weighOnHost(dr, dv, r, v float32) float32 {
	switch {
	case !(dv > 0):
		return 0
	case !(dr > 0):
		return 1
	}
	return min(max(r/max(dr, 1e-30)-2*v/max(dv, 1e-30), 0), 1)
}

// unitOnHost is unit in plain Go.
func unitOnHost(x []float32) []float32 {
	largest, out := slices.Max(x), slices.Clone(x)
	if largest > 0 {
		for i := range out {
			out[i] /= largest
		}
	}
	return out
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
