package plot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/analysis"
)

// Labels returns names of curves for a legend, in the order of the curves. A name has the agent, the settings that
// differ between the agent's curves, as in "ensemble, particles=10", and the settings in always. Settings are sorted by
// key. A setting that differs between curves of another agent is included, too, unless it is usual, see
// [analysis.Curve]. Settings that differ only between agents are left out, because the agent's name represents them; so
// are settings that searches found for all curves of an agent. If agents of one name have different learners, their
// names have the learner, and they count as different agents. If runs diverged, the name ends with their number.
func Labels(curves []analysis.Curve, always ...string) []string {
	curves = withLearners(curves)
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

// withLearners returns curves in which the learner belongs to the agent's name, if it differs between agents of one
// name, as after an edit of the agent's file.
func withLearners(curves []analysis.Curve) []analysis.Curve {
	out := slices.Clone(curves)
	for i, c := range curves {
		if slices.ContainsFunc(curves, func(o analysis.Curve) bool { return o.Agent == c.Agent && o.Learner != c.Learner }) {
			out[i].Agent += ", learner=" + cmp.Or(c.Learner, c.Agent)
		}
	}
	return out
}

// settings returns KEY=VALUE for the keys that are shown, sorted.
func settings(all map[string]any, shown map[string]bool) (out []string) {
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if shown[k] {
			out = append(out, fmt.Sprintf("%s=%v", k, all[k]))
		}
	}
	return out
}

// place is a key of an agent's settings.
type place struct{ agent, key string }

// differing returns the keys that differ between two curves of any one agent.
func differing(curves []analysis.Curve) map[string]bool {
	keys := map[string]bool{}
	for at := range differences(curves) {
		keys[at.key] = true
	}
	return keys
}

// differences returns the keys whose values differ between two curves of an agent, unless all these values are usual.
func differences(curves []analysis.Curve) map[place]bool {
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

// divergence returns a text with the number of runs that diverged, "" if there are none.
func divergence(diverged, runs int) string {
	switch diverged {
	case 0:
		return ""
	case runs:
		return fmt.Sprintf(" (all %d diverged)", runs)
	}
	return fmt.Sprintf(" (%d of %d diverged)", diverged, runs)
}
