package plot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Labels names curves for a legend, in their order: the agent, then the settings that differ between the curves of any
// one agent, as in "ensemble, particles=10", and the settings in always, sorted by key. Settings that differ only
// between agents are left out, as the agent's name stands for them, and so are those that searches found for all curves
// of an agent. It ends with how many runs diverged.
func Labels(curves []lab.Curve, always ...string) []string {
	shown := differing(curves)
	for _, k := range always {
		shown[k] = true
	}
	out := make([]string, len(curves))
	for i, c := range curves {
		out[i] = strings.Join(append([]string{c.Agent}, settings(c.Settings, shown)...), ", ") +
			divergence(c.Diverged, c.Runs)
	}
	return out
}

// settings lists KEY=VALUE of the keys that are shown, sorted.
func settings(all map[string]any, shown map[string]bool) (out []string) {
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if shown[k] {
			out = append(out, fmt.Sprintf("%s=%v", k, all[k]))
		}
	}
	return out
}

// differing returns the keys whose values differ between two curves of an agent, unless all are usual there.
func differing(curves []lab.Curve) map[string]bool {
	type place struct{ agent, key string }
	first, chosen := map[place]any{}, map[place]bool{}
	differ, out := map[place]bool{}, map[string]bool{}
	for _, c := range curves {
		for k, v := range c.Settings {
			at := place{c.Agent, k}
			if seen, ok := first[at]; !ok {
				first[at] = v
			} else if fmt.Sprint(seen) != fmt.Sprint(v) {
				differ[at] = true
			}
			chosen[at] = chosen[at] || !slices.Contains(c.Usual, k)
		}
	}
	for at := range differ {
		if chosen[at] {
			out[at.key] = true
		}
	}
	return out
}

// divergence says how many of some runs diverged.
func divergence(diverged, runs int) string {
	switch diverged {
	case 0:
		return ""
	case runs:
		return fmt.Sprintf(" (all %d diverged)", runs)
	}
	return fmt.Sprintf(" (%d of %d diverged)", diverged, runs)
}
