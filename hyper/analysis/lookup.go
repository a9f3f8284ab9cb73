package analysis

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// ErrMissing reports that results lack an entry, enough runs of it, or its rows at a period.
var ErrMissing = errors.New("not in the study")

// Lookup returns a function that finds runs in results. It is a study.Simulator that simulates nothing. For each entry
// it returns the runs that have a row at exactly the last requested period, with all their rows up to that period. This
// is valid because the first periods of a run do not depend on how many follow. If there are more runs than requested,
// it returns them all, because nobody chose them by their results. The error wraps ErrMissing if an entry is missing or
// has too few such runs.
func Lookup(x lab.Experiment, h lab.Header, rows []lab.Row) (
	simulate func(agents, sets []string, size lab.Size) (lab.Header, []lab.Row, error)) {
	n := len(h.Spec.Entries)
	texts, entryRows, numRows := make([]string, n), make([][]lab.Row, n), make([]int, n)
	for _, r := range rows {
		numRows[r.Entry]++
	}
	for i, e := range h.Spec.Entries {
		text, _ := json.Marshal(e)
		texts[i], entryRows[i] = string(text), make([]lab.Row, 0, numRows[i])
	}
	for _, r := range rows {
		entryRows[r.Entry] = append(entryRows[r.Entry], r)
	}
	return func(agents, sets []string, size lab.Size) (lab.Header, []lab.Row, error) {
		spec, err := x.Spec(agents, sets, size, h.Spec.Seed)
		if err != nil {
			return lab.Header{}, nil, err
		}
		found := h
		found.Spec = spec
		var out []lab.Row
		for i, e := range spec.Entries {
			text, err := json.Marshal(e)
			if err != nil {
				return lab.Header{}, nil, err
			}
			var had []lab.Row
			at := slices.Index(texts, string(text))
			if at >= 0 {
				had = entryRows[at]
			}
			runs := historyOf(had, at)
			whole := runs.reaching(size.Periods)
			if at < 0 || len(whole) < size.Runs {
				return lab.Header{}, nil, fmt.Errorf("%w: agent %s with %s needs %d runs with results at period %d; "+
					"the study has %s", ErrMissing, e.Agent,
					settingsText(slices.Concat(size.Sets, sets)), size.Runs, size.Periods, runs.extent(len(whole),
						size.Periods))
			}
			for _, r := range had {
				if _, found := slices.BinarySearch(whole, r.Seed); found && r.Period <= size.Periods {
					r.Entry = i
					out = append(out, r)
				}
			}
		}
		return found, out, nil
	}
}

// reaching returns the seeds of the runs that have a row at a period, in ascending order.
func (h history) reaching(period int) []uint64 {
	seeds := slices.Sorted(maps.Keys(h))
	return slices.DeleteFunc(seeds, func(seed uint64) bool { _, ok := h[seed][period]; return !ok })
}

// extent describes in words the runs of a history, and how many of them have results at a period.
func (h history) extent(reaching, period int) string {
	if len(h) == 0 {
		return "none"
	}
	ends := map[int]int{}
	for _, rows := range h {
		ends[slices.Max(slices.Collect(maps.Keys(rows)))]++
	}
	lengths := slices.Sorted(maps.Keys(ends))
	var parts []string
	for _, n := range lengths {
		parts = append(parts, lab.Size{Periods: n, Runs: ends[n]}.String())
	}
	text := strings.Join(parts, " and ")
	switch {
	case reaching > 0 && reaching < len(h):
		text += fmt.Sprintf(", %d of them with results at that period", reaching)
	case reaching == 0 && lengths[len(lengths)-1] > period:
		text += ", none of them with results at that period"
	}
	return text
}

func settingsText(sets []string) string {
	if len(sets) == 0 {
		return "all settings at their defaults"
	}
	return strings.Join(sets, " ") + ", its other settings at their defaults,"
}
