package lab

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// Unknown stands for a revision, a version or a hash that nothing here tells.
const Unknown = "unknown"

// Provenance says what made results. With the Spec it decides every row, but for the machine's rounding.
type Provenance struct {
	Epoch    int    `json:"epoch"`              // of the results, see [Changes]
	Revision string `json:"revision"`           // of this module: a commit, a released version, or [Unknown]
	Modified bool   `json:"modified,omitempty"` // the sources had changes that are in no commit
	// where the program does not name its revision itself: a hash of its file
	Build   string `json:"build,omitempty"`
	GoMLX   string `json:"gomlx"` // version of github.com/gomlx/gomlx, like the next two
	Compute string `json:"compute"`
	GoXLA   string `json:"go_xla"`
	Plugin  string `json:"plugin,omitempty"` // SHA-256 of XLA's plugin; none on the backend "go"
}

// ErrMixed says that different code made results: they are joined only when asked for.
var ErrMixed = errors.New("results that different code made must not mix")

// thisCode is the provenance of this process but for the plugin.
var thisCode = sync.OnceValue(func() Provenance {
	p := Provenance{Epoch: Epoch()}
	var certain bool
	if p.Revision, p.Modified, certain = revision(); !certain || p.Modified {
		p.Build = buildHash()
	}
	p.GoMLX = required("github.com/gomlx/gomlx")
	p.Compute = required("github.com/gomlx/compute")
	p.GoXLA = required("github.com/gomlx/go-xla")
	return p
})

// ThisProvenance is that of results which this process makes on a backend.
func ThisProvenance(name string) Provenance {
	p := thisCode()
	if device, isXLA := strings.CutPrefix(name, "xla:"); isXLA {
		var err error
		if p.Plugin, err = backend.PluginHash(backend.PluginPath(device)); err != nil {
			p.Plugin = Unknown
		}
	}
	return p
}

// String names the code in an error or a table.
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

// Libraries names what the code was built with, and the plugin.
func (p Provenance) Libraries() string {
	text := fmt.Sprintf("gomlx %s, compute %s, go-xla %s", p.GoMLX, p.Compute, p.GoXLA)
	if p.Plugin != "" {
		text += ", plugin " + p.Plugin[:min(12, len(p.Plugin))]
	}
	return text
}

// sameCode tells whether both are one program, or programs of the same commit or release.
func (p Provenance) sameCode(q Provenance) bool {
	if p.Build != "" && p.Build == q.Build {
		return true
	}
	known := p.Revision != "" && p.Revision != Unknown && !p.Modified && !q.Modified
	return known && p.Epoch == q.Epoch && p.Revision == q.Revision
}

// sameLibraries tells whether the code was built with the same GoMLX, and ran the same plugin.
func (p Provenance) sameLibraries(q Provenance) bool {
	return p.GoMLX == q.GoMLX && p.Compute == q.Compute && p.GoXLA == q.GoXLA && p.Plugin == q.Plugin
}

// Mixable returns nil when what p made may stand beside what q made: the code is the same, or no change between their
// epochs touches these entries of the experiment, which are those of the older (see [Changes]). Else the error wraps
// ErrMixed, names both, and says why. GoMLX and the plugin may differ: see [Provenance.Continues].
func (p Provenance) Mixable(q Provenance, experiment string, entries []Entry) error {
	if p.sameCode(q) {
		return nil
	}
	between := fmt.Sprintf("%s, and %s", p, q)
	for _, x := range []Provenance{p, q} {
		if x.Modified || x.Revision == Unknown && verified[x.Build] == "" {
			return fmt.Errorf("%w: %s: nobody can tell what lies between them", ErrMixed, between)
		}
	}
	if newest := max(p.Epoch, q.Epoch); newest > Epoch() {
		return fmt.Errorf("%w: %s: this program knows results up to epoch %d", ErrMixed, between, Epoch())
	}
	for _, c := range Changes {
		if c.Epoch > min(p.Epoch, q.Epoch) && c.Epoch <= max(p.Epoch, q.Epoch) && c.touches(experiment, entries) {
			return fmt.Errorf("%w: %s: since epoch %d (%s) %s", ErrMixed, between, c.Epoch, c.Revision, c.What)
		}
	}
	return nil
}

// Continues returns nil when q may go on with what p began, so that the rows are those that either would make alone:
// they are Mixable, both are recorded, and GoMLX and the plugin are the same. Else the error wraps ErrMixed.
func (p Provenance) Continues(q Provenance, experiment string, entries []Entry) error {
	if p.Revision == "" || q.Revision == "" {
		return fmt.Errorf("%w: %s, and %s", ErrMixed, p, q)
	}
	if err := p.Mixable(q, experiment, entries); err != nil {
		return err
	}
	if !p.sameLibraries(q) {
		return fmt.Errorf("%w: with %s, and with %s", ErrMixed, p.Libraries(), q.Libraries())
	}
	return nil
}

// Code is what made the results, and whatever else made some of them. Headers of old versions do not say; the version
// does.
func (h Header) Code() []Provenance {
	first := h.Provenance
	if first.Revision == "" {
		first.Epoch = unrecorded[h.Version]
	}
	return append([]Provenance{first}, h.Also...)
}

// MadeBy notes in the header what else made its rows.
func (h *Header) MadeBy(code ...Provenance) {
	for _, p := range code {
		there := func(q Provenance) bool { return p == q || p.sameCode(q) && p.sameLibraries(q) }
		if !there(h.Provenance) && !slices.ContainsFunc(h.Also, there) {
			h.Also = append(h.Also[:len(h.Also):len(h.Also)], p)
		}
	}
}
