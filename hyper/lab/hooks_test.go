package lab

import (
	"errors"
	"testing"

	"github.com/janpfeifer/must"
)

// WithChanges replaces, during a test, the changes that the program knows and the code that it is.
func WithChanges(t *testing.T, code Provenance, changes ...Change) {
	t.Helper()
	before, then, none := Changes, thisCode, unrecorded
	Changes, thisCode = changes, func() Provenance { return code }
	unrecorded = map[string]int{"0.1.0": 1}
	t.Cleanup(func() { Changes, thisCode, unrecorded = before, then, none })
}

// Reopen opens results as a run of the same Spec does, and returns the file's header.
func Reopen(t *testing.T, dir string, known map[string]Experiment, mix func(error)) (Header, error) {
	t.Helper()
	h, _ := must.M2(ReadResults(dir, known))
	o := Options{Dir: dir, Backend: "go", BatchRuns: 2, Mix: mix}
	e := &engine{plan: newPlan(h.Spec, 2), opts: o, known: known, rows: rowListener{passed: map[int]int{}}}
	_, err := e.open()
	if err == nil {
		err = e.out.file.Close()
	}
	after, _, err2 := ReadResults(dir, known)
	return after, errors.Join(err, err2)
}

// Names that only tests of other packages than lab need.
var (
	ErrMemory  = errMemory
	StateBytes = func(e Entry, periods int) (int64, error) {
		state, _, err := sizes(e, periods)
		return state, err
	}
)

const Unknown = unknown
