package analysis

import (
	"fmt"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Reader reads the pieces of a study. The zero value accepts pieces that different code made only if no commit between
// the versions of the code changed their results (see [lab.Provenance.Mixable]).
type Reader struct {
	// Mix, if not nil, allows pieces that different code made. It is called with the reason why they differ, and the
	// joined header names all code.
	Mix func(why error)
	// Unfinished, if not nil, is called for each piece whose runs are not all complete after the pieces are joined. The
	// piece has some number of runs, over all its entries; begun of them have rows, and complete of them have the row
	// of the last period.
	Unfinished func(path string, runs, begun, complete int)
}

// maker is a version of the code that made pieces of a study.
type maker struct {
	code    lab.Provenance
	path    string // path of its first piece
	entries []lab.Entry
}

// makers lists the versions of the code that made the pieces read so far.
type makers []*maker

// add records the code that made another piece. The error says why the piece must not be joined with one of the earlier
// pieces.
func (m *makers) add(path string, h lab.Header) error {
	var wrong error
	for _, code := range h.Code() {
		now := &maker{code: code, path: path}
		for _, old := range *m {
			if old.code == code {
				now = old
				continue
			}
			entries := old.entries
			if code.Epoch < old.code.Epoch {
				entries = h.Spec.Entries
			}
			err := old.code.Mixable(code, h.Spec.Experiment, entries)
			if err != nil && old.path != path && wrong == nil {
				wrong = fmt.Errorf("%s and %s: %w", old.path, path, err)
			}
		}
		if now.entries == nil {
			*m = append(*m, now)
		}
		now.entries = append(now.entries, h.Spec.Entries...)
	}
	return wrong
}
