package lab

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// unknown stands for a revision, a version or a hash that could not be determined.
const unknown = "unknown"

// Provenance names the code that made results. Together with the Spec it determines every row, except for differences
// in rounding between machines.
type Provenance struct {
	Epoch    int    `json:"epoch"`              // epoch of the results, see [Changes]
	Revision string `json:"revision"`           // revision of this module: a commit, a released version, or "unknown"
	Modified bool   `json:"modified,omitempty"` // whether the sources had changes that are in no commit
	// Build is a hash of the program's file. It is set if the program does not record its own revision.
	Build   string `json:"build,omitempty"`
	GoMLX   string `json:"gomlx"` // version of github.com/gomlx/gomlx; Compute and GoXLA are also versions
	Compute string `json:"compute"`
	GoXLA   string `json:"go_xla"`
	Plugin  string `json:"plugin,omitempty"` // SHA-256 of XLA's plugin; empty on the backend "go"
}

// ErrMixed reports that different code made results. Such results are joined only on request.
var ErrMixed = errors.New("results that different code made must not mix")

// thisCode returns the provenance of this process, without the plugin.
var thisCode = sync.OnceValue(func() Provenance {
	p := Provenance{Epoch: epoch()}
	var certain bool
	if p.Revision, p.Modified, certain = revision(); !certain || p.Modified {
		p.Build = ProgramHash()
	}
	p.GoMLX = required("github.com/gomlx/gomlx")
	p.Compute = required("github.com/gomlx/compute")
	p.GoXLA = required("github.com/gomlx/go-xla")
	return p
})

// ThisProvenance returns the provenance of results that this process makes on a backend.
func ThisProvenance(name string) Provenance {
	p := thisCode()
	if device, isXLA := strings.CutPrefix(name, "xla:"); isXLA {
		var err error
		if p.Plugin, err = backend.PluginHash(backend.PluginPath(device)); err != nil {
			p.Plugin = unknown
		}
	}
	return p
}

// String names the code for an error or a table.
func (p Provenance) String() string {
	if p.Revision == "" {
		return fmt.Sprintf("a revision that was not recorded, results of epoch %d", p.Epoch)
	}
	text := "revision " + p.Revision
	if !strings.Contains(p.Revision, ".") { // a commit, not a version
		text = text[:min(len("revision ")+12, len(text))]
	}
	if p.Modified {
		text += ", modified"
	}
	if p.Build != "" {
		text += " (build " + p.Build[:min(12, len(p.Build))] + ")"
	}
	return fmt.Sprintf("%s, results of epoch %d", text, p.Epoch)
}

// Libraries names the versions of the libraries and the plugin.
func (p Provenance) Libraries() string {
	text := fmt.Sprintf("gomlx %s, compute %s, go-xla %s", p.GoMLX, p.Compute, p.GoXLA)
	if p.Plugin != "" {
		text += ", plugin " + p.Plugin[:min(12, len(p.Plugin))]
	}
	return text
}

// sameCode reports whether both are the same program, or programs of the same commit or release.
func (p Provenance) sameCode(q Provenance) bool {
	if p.Build != "" && p.Build == q.Build {
		return true
	}
	known := p.Revision != "" && p.Revision != unknown && !p.Modified && !q.Modified
	return known && p.Epoch == q.Epoch && p.Revision == q.Revision
}

// sameLibraries reports whether the code was built with the same version of GoMLX and ran the same plugin.
func (p Provenance) sameLibraries(q Provenance) bool {
	return p.GoMLX == q.GoMLX && p.Compute == q.Compute && p.GoXLA == q.GoXLA && p.Plugin == q.Plugin
}

// Mixable returns nil if the results of p and q may be joined: the code is the same, or no change between their epochs
// affects the given entries of the experiment, which are the entries that the older code made (see [Changes]).
// Otherwise the error wraps ErrMixed, names both, and gives the reason. GoMLX and the plugin may differ, see
// [Provenance.Continues].
func (p Provenance) Mixable(q Provenance, experiment string, entries []Entry) error {
	if p.sameCode(q) {
		return nil
	}
	between := fmt.Sprintf("%s, and %s", p, q)
	for _, x := range []Provenance{p, q} {
		if x.Modified || x.Revision == unknown && verified[x.Build] == "" {
			return fmt.Errorf("%w: %s: the changes between them are not known", ErrMixed, between)
		}
	}
	if newest := max(p.Epoch, q.Epoch); newest > epoch() {
		return fmt.Errorf("%w: %s: this program knows results up to epoch %d", ErrMixed, between, epoch())
	}
	for _, c := range Changes {
		if c.Epoch > min(p.Epoch, q.Epoch) && c.Epoch <= max(p.Epoch, q.Epoch) && c.affects(experiment, entries) {
			return fmt.Errorf("%w: %s: since epoch %d (%s) %s", ErrMixed, between, c.Epoch, c.Revision, c.What)
		}
	}
	return nil
}

// Continues returns nil if q may continue results that p began, so that the rows are the same as if one of them had
// made all: p and q are Mixable, both revisions are recorded, and GoMLX and the plugin are the same. Otherwise the
// error wraps ErrMixed.
func (p Provenance) Continues(q Provenance, experiment string, entries []Entry) error {
	if p.Revision == "" || q.Revision == "" {
		return fmt.Errorf("%w: %s, and %s: one of them does not record its revision", ErrMixed, p, q)
	}
	if err := p.Mixable(q, experiment, entries); err != nil {
		return err
	}
	if !p.sameLibraries(q) {
		return fmt.Errorf("%w: with %s, and with %s", ErrMixed, p.Libraries(), q.Libraries())
	}
	return nil
}

// Code returns the provenance of all code that made the results; the code that began them comes first. Headers of old
// versions do not record an epoch; Code derives it from the version.
func (h Header) Code() []Provenance {
	first := h.Provenance
	if first.Revision == "" {
		first.Epoch = unrecorded[h.Version]
	}
	return append([]Provenance{first}, h.Also...)
}

// MadeBy adds to the header the code that made some of its rows, unless the header already names it.
func (h *Header) MadeBy(code ...Provenance) {
	for _, p := range code {
		equals := func(q Provenance) bool { return p == q || p.sameCode(q) && p.sameLibraries(q) }
		if !equals(h.Provenance) && !slices.ContainsFunc(h.Also, equals) {
			h.Also = append(h.Also[:len(h.Also):len(h.Also)], p)
		}
	}
}
