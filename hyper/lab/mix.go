package lab

import "fmt"

// Study says how the pieces of a study are read. The zero value refuses pieces that different code made, unless no
// change of results lies between them (see [Provenance.Mixable]).
type Study struct {
	// Mix, if given, hears why pieces are not of one kind, and they are joined; the header names all code.
	Mix func(why error)
}

// maker is code that made pieces of a study.
type maker struct {
	code    Provenance
	path    string // of its first piece
	entries []Entry
}

// makers are those of the pieces read so far.
type makers struct{ list []*maker }

// add takes up who made another piece. The error says that it must not stand beside one of those before.
func (m *makers) add(path string, h Header) error {
	var wrong error
	for _, code := range h.Code() {
		new := &maker{code: code, path: path}
		for _, old := range m.list {
			if old.code == code {
				new = old
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
		if new.entries == nil {
			m.list = append(m.list, new)
		}
		new.entries = append(new.entries, h.Spec.Entries...)
	}
	return wrong
}
