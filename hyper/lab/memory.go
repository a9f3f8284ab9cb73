package lab

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// ErrMemory says that a Spec does not fit the machine's memory.
var ErrMemory = errors.New("not enough memory")

// Fits tells whether Run would refuse a Spec for want of memory.
func Fits(spec Spec, o Options) error {
	chosen := o.BatchRuns <= 0
	_, err := fit(spec, o.Defaults(spec), chosen)
	return err
}

// fit returns how many runs a batch may have for the Spec to fit the memory that is free: size, or less where it may be
// chosen. It counts what runs carry, twice; what a period needs beside it is not known before it is compiled. A GPU's
// memory is not known.
func fit(spec Spec, o Options, chosen bool) (int, error) {
	free := FreeMemory()
	if free <= 0 || o.Backend == backend.XLACUDA {
		return o.BatchRuns, nil
	}
	var largest int64
	seen := map[string]bool{}
	for _, e := range spec.Entries {
		if key := e.Shape(); !seen[key] {
			seen[key] = true
			if bytes, err := StateBytes(e, spec.Periods); err == nil { // else compiling it tells what is wrong
				largest = max(largest, bytes)
			}
		}
	}
	at := min(o.Workers, len(newPlan(spec, o.BatchRuns).batches)) // at once
	most := int(free / (2 * max(largest, 1)) / int64(at))
	switch {
	case o.BatchRuns <= most:
		return o.BatchRuns, nil
	case most < 1:
		return 0, fmt.Errorf("%w: a run needs at least %s, %d at once %s, and %s are free; fewer --workers need less",
			ErrMemory, Bytes(2*largest), at, Bytes(2*largest*int64(at)), Bytes(free))
	case !chosen:
		return 0, fmt.Errorf("%w: %d batches of %d runs need at least %s, and %s are free; --batch-runs %d would fit",
			ErrMemory, at, o.BatchRuns,
			Bytes(2*largest*int64(o.BatchRuns)*int64(at)), Bytes(free), most)
	}
	return most, nil
}

// Bytes is a number of bytes in words.
func Bytes(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.3g MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.3g kB", float64(n)/1e3)
}

func sortedKeys(m map[string]float64) []string { return slices.Sorted(maps.Keys(m)) }
