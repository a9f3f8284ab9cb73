package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// Sweep returns a statistic of standings as a function of a numeric setting: a line with its intervals for each agent
// and combination of other settings, in the order of their first standings. Labels name the differences between the
// lines, and have the number of runs that diverged. Agents have the colours of [Styled]. Sweep returns an error if a
// value of the setting is not a number.
func Sweep(all []analysis.Standing, key string, statistic func(analysis.Standing) stats.Estimate) ([]Series, error) {
	names := others(all, key)
	at := make([]float64, len(all))
	order := make([]int, len(all))
	for i, s := range all {
		var ok bool
		if at[i], ok = numberOf(s.Settings[key]); !ok {
			return nil, fmt.Errorf("agent %s: %s=%v is not a number to draw against", s.Agent, key, s.Settings[key])
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(slices.Index(names, names[a]), slices.Index(names, names[b])),
			cmp.Compare(at[a], at[b]))
	})
	var out []Series
	var first []analysis.Curve // the first standing of each line
	var runs, diverged int
	for i, n := range order {
		if i == 0 || names[n] != names[order[i-1]] {
			out = append(out, Series{})
			first = append(first, analysis.Curve{Agent: all[n].Agent, Settings: all[n].Settings})
			runs, diverged = 0, 0
		}
		runs, diverged = runs+all[n].Runs, diverged+all[n].Diverged
		out[len(out)-1].Label = strings.TrimSpace(names[n] + divergence(diverged, runs))
		s, e := &out[len(out)-1], statistic(all[n])
		s.X, s.Y = append(s.X, at[n]), append(s.Y, float64(e.Value))
		s.Lower, s.Upper = append(s.Lower, float64(e.Lower)), append(s.Upper, float64(e.Upper))
	}
	for i, s := range styled(first) {
		out[i].Color, out[i].dash = s.Color, s.dash
	}
	return out, nil
}

// numberOf returns the value of a numeric setting, or 0 and false.
func numberOf(setting any) (value float64, ok bool) {
	switch v := setting.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// others returns a name for each standing: its agent, if there are several, and the settings that differ, except one.
func others(all []analysis.Standing, but string) []string {
	curves := make([]analysis.Curve, len(all))
	agents := map[string]bool{}
	for i, s := range all {
		curves[i] = analysis.Curve{Agent: s.Agent, Settings: s.Settings}
		agents[s.Agent] = true
	}
	shown := differing(curves)
	delete(shown, but)
	out := make([]string, len(all))
	for i, s := range all {
		parts := settings(s.Settings, shown)
		if len(agents) > 1 {
			parts = append([]string{s.Agent}, parts...)
		}
		out[i] = strings.Join(parts, ", ")
	}
	return out
}
