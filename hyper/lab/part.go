package lab

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Part returns the entries of results that have all the given settings, "key=value" or "key=v1,v2,...", with their
// rows. They are sorted by agent as in x.Order, other learners last, then by the sets in turn: by the order in which a
// set lists its values, and for a bare "key", which selects nothing, ascending, entries without the key first. An entry
// without the key of another set is left out.
func (x Experiment) Part(h Header, rows []Row, sets ...string) (Header, []Row) {
	places := map[int][]int{}
	for i, e := range h.Spec.Entries {
		if p, ok := x.place(h, e, sets); ok {
			places[i] = p
		}
	}
	kept := slices.SortedStableFunc(maps.Keys(places), func(a, b int) int {
		return cmp.Or(slices.Compare(places[a], places[b]), cmp.Compare(a, b))
	})
	return pick(h, rows, kept)
}

// place is where an entry stands in the order of agents and of each set; ok is false when a set leaves it out.
func (x Experiment) place(h Header, e Entry, sets []string) (place []int, ok bool) {
	agent := slices.Index(x.Order, e.Agent)
	if agent < 0 { // another learner
		agent = len(x.Order)
	}
	place = []int{agent}
	own := Values(e.Setting)
	for _, set := range sets {
		key, text, given := strings.Cut(set, "=")
		listed := strings.Split(text, ",")
		if !given {
			listed = []string{"<nil>"} // as a missing value prints
			for _, v := range Levels(h, key) {
				listed = append(listed, fmt.Sprint(v))
			}
		}
		at := slices.Index(listed, fmt.Sprint(own[key]))
		if at < 0 {
			return nil, false
		}
		place = append(place, at)
	}
	return place, true
}

// pick returns some entries, in the order of their numbers, with their rows.
func pick(h Header, rows []Row, entries []int) (Header, []Row) {
	now, whole := map[int]int{}, h.Spec.Entries
	h.Spec.Entries = nil
	for i, n := range entries {
		now[n] = i
		h.Spec.Entries = append(h.Spec.Entries, whole[n])
	}
	var kept []Row
	for _, r := range rows {
		if at, ok := now[r.Entry]; ok {
			r.Entry = at
			kept = append(kept, r)
		}
	}
	return h, kept
}

// Levels returns the values that the entries of results have for a key, each once, ascending.
func Levels(h Header, key string) (out []any) {
	for _, e := range h.Spec.Entries {
		if v, ok := Values(e.Setting)[key]; ok && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, compareValues)
	return out
}

// compareValues compares values of one key: numbers, also those that are text, by size and before other texts.
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

// Unusual lists the settings of an entry, "key=value" sorted by key, that are not the defaults of its agent, nor what a
// search found for a number of periods.
func (x Experiment) Unusual(e Entry, periods int) (out []string) {
	own := Values(e.Setting)
	for _, k := range x.unusual(e, periods) {
		out = append(out, fmt.Sprintf("%s=%v", k, own[k]))
	}
	return out
}
