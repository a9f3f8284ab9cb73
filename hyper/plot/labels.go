package plot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Labels names curves for a legend, in their order: the agent, then the settings that differ between its curves, as in
// "ensemble, particles=10", and the settings in always, sorted by key. A setting that differs between the curves of
// another agent is named, too, unless it is usual, see [lab.Curve]. Settings that differ only between agents are left
// out, as the agent's name stands for them, and so are those that searches found for all curves of an agent. It ends
// with how many runs diverged.
func Labels(curves []lab.Curve, always ...string) []string {
	differ := differences(curves)
	out := make([]string, len(curves))
	for i, c := range curves {
		shown := map[string]bool{}
		for at := range differ {
			shown[at.key] = shown[at.key] || at.agent == c.Agent || !slices.Contains(c.Usual, at.key)
		}
		for _, k := range always {
			shown[k] = true
		}
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

// place is a key of an agent.
type place struct{ agent, key string }

// differing returns the keys that differ between two curves of any one agent.
func differing(curves []lab.Curve) map[string]bool {
	keys := map[string]bool{}
	for at := range differences(curves) {
		keys[at.key] = true
	}
	return keys
}

// differences returns the keys whose values differ between two curves of an agent, unless all are usual there.
func differences(curves []lab.Curve) map[place]bool {
	first, chosen := map[place]any{}, map[place]bool{}
	differ := map[place]bool{}
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
	maps.DeleteFunc(differ, func(at place, _ bool) bool { return !chosen[at] })
	return differ
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
