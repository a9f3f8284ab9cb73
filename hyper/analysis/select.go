package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Select returns the entries of results of an experiment that have all the given settings, with their rows. A set is
// "key=value" or "key=v1,v2,...", or a bare "key", which selects nothing. The key "agent" selects agents by their
// names. Entries are sorted by agent as in x.Order, with other learners last, and then by the sets in turn: in the
// order in which a set lists its values, and in ascending order for a bare "key", where entries without the key come
// first. Select leaves out an entry without the key of a set that lists values.
func Select(x lab.Experiment, h lab.Header, rows []lab.Row, sets ...string) (lab.Header, []lab.Row) {
	places := map[int][]int{}
	for i, e := range h.Spec.Entries {
		if p, ok := position(x, h, e, sets); ok {
			places[i] = p
		}
	}
	kept := slices.SortedStableFunc(maps.Keys(places), func(a, b int) int {
		return cmp.Or(slices.Compare(places[a], places[b]), cmp.Compare(a, b))
	})
	return pick(h, rows, kept)
}

// position returns the position of an entry in the order of agents and of each set. ok is false if a set leaves the
// entry out.
func position(x lab.Experiment, h lab.Header, e lab.Entry, sets []string) (place []int, ok bool) {
	agent := slices.Index(x.Order, e.Agent)
	if agent < 0 { // another learner
		agent = len(x.Order)
	}
	place = []int{agent}
	own := values(e)
	for _, set := range sets {
		key, text, given := strings.Cut(set, "=")
		listed := strings.Split(text, ",")
		if !given {
			listed = []string{"<nil>"} // a missing value prints as <nil>
			for _, v := range levels(h, key) {
				listed = append(listed, fmt.Sprint(v))
			}
		}
		at := slices.IndexFunc(listed, func(v string) bool {
			return lab.SameValue(strings.TrimSpace(v), fmt.Sprint(own[key]))
		})
		if at < 0 {
			return nil, false
		}
		place = append(place, at)
	}
	return place, true
}

// pick returns the given entries, in the given order, with their rows.
func pick(h lab.Header, rows []lab.Row, entries []int) (lab.Header, []lab.Row) {
	now, whole := map[int]int{}, h.Spec.Entries
	h.Spec.Entries = nil
	for i, n := range entries {
		now[n] = i
		h.Spec.Entries = append(h.Spec.Entries, whole[n])
	}
	var kept []lab.Row
	for _, r := range rows {
		if at, ok := now[r.Entry]; ok {
			r.Entry = at
			kept = append(kept, r)
		}
	}
	return h, kept
}

// values returns the settings of an entry, and the name of its agent under the key "agent".
func values(e lab.Entry) map[string]any {
	all := catalog.Values(e.Setting)
	all["agent"] = e.Agent
	return all
}

// levels returns the distinct values of a key, see [Select], in the entries of results, in ascending order.
func levels(h lab.Header, key string) (out []any) {
	for _, e := range h.Spec.Entries {
		if v, ok := values(e)[key]; ok && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, compareValues)
	return out
}

// compareValues compares two values of one key. Numbers, including numbers written as text, are compared by size and
// come before other texts.
func compareValues(a, b any) int {
	s, t := fmt.Sprint(a), fmt.Sprint(b)
	x, errX := strconv.ParseFloat(s, 64)
	y, errY := strconv.ParseFloat(t, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Compare(x, y)
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return cmp.Compare(s, t)
}
