package lab

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// ErrMemory reports that the runs of a Spec need more memory than the machine has free.
var ErrMemory = errors.New("not enough memory")

// Fits returns nil if the machine has enough memory for a Spec. Otherwise it returns the error with which Run would
// refuse the Spec.
func Fits(spec Spec, o Options) error {
	chosen := o.BatchRuns <= 0
	_, err := fit(spec, o.Defaults(spec), chosen)
	return err
}

// fit returns the number of runs of a batch with which the Spec fits into free memory: o.BatchRuns, or fewer if chosen
// is true, which means that the program and not the user chose o.BatchRuns. fit counts twice the memory that runs carry
// from period to period. The further memory of a period is not known before it is compiled. The memory of a GPU is not
// known.
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
			if bytes, err := StateBytes(e, spec.Periods); err == nil { // otherwise compiling it will report the fault
				largest = max(largest, bytes)
			}
		}
	}
	at := min(o.Workers, len(newPlan(spec, o.BatchRuns).batches)) // number of batches at once
	most := int(free / (2 * max(largest, 1)) / int64(at))
	switch {
	case o.BatchRuns <= most:
		return o.BatchRuns, nil
	case most < 1:
		return 0, fmt.Errorf("%w: a run needs at least %s, and %d runs at once need %s, but only %s are free; use "+
			"fewer --workers",
			ErrMemory, Bytes(2*largest), at, Bytes(2*largest*int64(at)), Bytes(free))
	case !chosen:
		return 0, fmt.Errorf("%w: %d batches of %d runs need at least %s, but only %s are free; --batch-runs %d "+
			"would fit",
			ErrMemory, at, o.BatchRuns,
			Bytes(2*largest*int64(o.BatchRuns)*int64(at)), Bytes(free), most)
	}
	return most, nil
}

// Bytes describes a number of bytes in words, such as 1.5 GB.
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
