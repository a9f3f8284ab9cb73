package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/analysis"
)

// agentStyle is the style of an agent's lines: a colour, and an index of dashes.
type agentStyle struct {
	color color.NRGBA
	dash  int
}

// styles has the styles of the agents of `hyper list`, which are the same in all figures. The colours are Palette's and
// four more that colour-blind readers can distinguish from these. If two colours are similar for some readers, one of
// the lines is dashed.
var styles = map[string]agentStyle{
	"linear":             {Palette[0], 0},
	"ensemble":           {Palette[1], 0},
	"egreedy":            {Palette[2], 1},
	"diagonal":           {Palette[3], 0},
	"bbb":                {Palette[4], 1},
	"hypernetwork":       {Palette[5], 0},
	"exact":              {Palette[6], 0},
	"independent":        {Palette[6], 3},
	"dropout":            {wine, 0},
	"ids":                {indigo, 0},
	"exact-ids":          {indigo, 3},
	"one-sparse":         {indigo, 2},
	"thompson":           {brown, 0},
	"exact-thompson":     {brown, 3},
	"epinet":             {maroon, 0},
	"bayesian-linear":    {maroon, 2},
	"marginal":           {wine, 2},
	"ensemble-plus-plus": {maroon, 3},
	"last-layer":         {Palette[0], 2},
	"hypermodel":         {Palette[0], 1}, // the Neural Testbed's, like the next two
	"ensemble+":          {rose, 0},
	"mlp":                {Palette[2], 0},
	"network-gp":         {indigo, 1},

	"ensemble-plus-plus-neural": {brown, 2},
}

var (
	wine   = color.NRGBA{0x88, 0x22, 0x55, 0xFF}
	indigo = color.NRGBA{0x33, 0x22, 0x88, 0xFF}
	brown  = color.NRGBA{0x6B, 0x44, 0x23, 0xFF}
	maroon = color.NRGBA{0x66, 0x11, 0x00, 0xFF}
	rose   = color.NRGBA{0xCC, 0x66, 0x77, 0xFF}
)

// moreColors has the colours of agents without a style, such as a user's own, in the order of their appearance in a
// figure.
var moreColors = []color.NRGBA{{0x44, 0xAA, 0x99, 0xFF}, {0xAA, 0x44, 0x99, 0xFF}, {0x99, 0x99, 0x33, 0xFF},
	{0x88, 0x88, 0x88, 0xFF}}

// shades has the shades of an agent's colour for several series of the agent, in order: the share of white that is
// mixed in, or of black if negative. Each series also has different dashes.
var shades = []float64{0, -0.4, 0.4, -0.7}

// Styled returns a series without data for each of the agents, in the agent's colour. An agent has the same colour in
// all figures. Several series of one agent have different shades of its colour and different dashes.
func Styled(agents ...string) []Series {
	ranks, seen := make([]int, len(agents)), map[string]int{}
	for i, agent := range agents {
		ranks[i] = seen[agent]
		seen[agent]++
	}
	return ranked(agents, ranks)
}

// styled is like Styled for curves. Curves of one agent are ordered by the numbers in which their settings differ.
// Usual settings have the same shade in all figures, see usual.
func styled(curves []analysis.Curve) []Series {
	agents, ranks := make([]string, len(curves)), make([]int, len(curves))
	keys := slices.Sorted(maps.Keys(differing(curves)))
	for i, c := range curves {
		agents[i] = c.Agent
		for j, other := range curves {
			order := cmp.Compare(j, i)
			for _, k := range slices.Backward(keys) {
				a, _ := numberOf(other.Settings[k])
				b, _ := numberOf(c.Settings[k])
				order = cmp.Or(cmp.Compare(a, b), order)
			}
			if other.Agent == c.Agent && order < 0 {
				ranks[i]++
			}
		}
		if n, ok := byUse(curves, i); ok {
			ranks[i] = n
		}
	}
	return ranked(agents, ranks)
}

// usual lists keys whose values have fixed shades: the numbers of particles of the paper's ensembles, also if there is
// only one size, and the policies.
var usual = []struct {
	key    string
	values []string
	alone  bool
}{
	{"particles", []string{"10", "30", "100", "300"}, true},
	{"policy", []string{"thompson", "ids", "greedy", "egreedy", "ucb", "top-two", "squarecb"}, false},
}

// byUse returns the index of a curve's value among the usual values. It uses the first key for which all curves of the
// agent have different usual values.
func byUse(curves []analysis.Curve, i int) (place int, ok bool) {
	for _, u := range usual {
		seen, fits := map[int]bool{-1: true}, true
		for _, c := range curves {
			if c.Agent != curves[i].Agent {
				continue
			}
			at := slices.Index(u.values, fmt.Sprint(c.Settings[u.key]))
			fits = fits && !seen[at]
			seen[at] = true
		}
		place = slices.Index(u.values, fmt.Sprint(curves[i].Settings[u.key]))
		if fits && (len(seen) > 2 || u.alone) {
			return place, true
		}
	}
	return 0, false
}

// ranked returns series for agents. ranks has the rank of each series among the series of its agent.
func ranked(agents []string, ranks []int) []Series {
	out := make([]Series, len(agents))
	var unknown []string
	for i, agent := range agents {
		l, ok := styles[agent]
		if !ok {
			if !slices.Contains(unknown, agent) {
				unknown = append(unknown, agent)
			}
			n := slices.Index(unknown, agent)
			l = agentStyle{moreColors[n%len(moreColors)], n / len(moreColors)}
		}
		n := ranks[i]
		out[i] = Series{Color: mixed(l.color, shades[n%len(shades)]),
			dash: dashes[(l.dash+n+n/len(shades))%len(dashes)]}
	}
	return out
}

// mixed returns a colour mixed with a share of white, or of black if the share is negative.
func mixed(c color.NRGBA, share float64) color.NRGBA {
	end := 255.0
	if share < 0 {
		end = 0
	}
	mix := func(x uint8) uint8 { return uint8(math.Round(float64(x) + math.Abs(share)*(end-float64(x)))) }
	return color.NRGBA{mix(c.R), mix(c.G), mix(c.B), c.A}
}
