package sweep

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// SearchFile is the name of a search's file in its folder.
const SearchFile = "search.json"

// Search is successive halving by sweeps: each rung is a sweep in a folder of its own, rung-1, rung-2, ..., that is
// planned when the one before is done.
type Search struct {
	Format     string          `json:"format"`
	Version    string          `json:"version"`
	Provenance lab.Provenance  `json:"provenance,omitzero"` // of the code that began it
	Options    Options         `json:"options"`
	Tuning     lab.Tuning      `json:"tuning"` // without rungs
	Mix        func(why error) `json:"-"`      // of its plans, see Plan
}

// NewSearch checks a search, and fixes what a machine would choose.
func NewSearch(t lab.Tuning, known map[string]lab.Experiment, o Options) (Search, error) {
	t.Rungs = nil
	spec, err := t.Spec(known)
	if err != nil {
		return Search{}, err
	}
	p, err := New(spec, o)
	o.Backend, o.BatchRuns = p.Backend, p.BatchRuns
	return Search{Format: Format, Version: hyper.Version, Provenance: lab.ThisProvenance(o.Backend), Options: o,
		Tuning: t}, err
}

// Create writes the search into a folder. If one is there already it must be the same.
func (s Search) Create(dir string) error {
	if found, err := writeOnce(filepath.Join(dir, SearchFile), s); err != nil || !found {
		return err
	}
	there, err := OpenSearch(dir)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(s.Options, there.Options) || !reflect.DeepEqual(s.Tuning, there.Tuning) {
		return fmt.Errorf("%s holds another search: choose another folder, or `hyper sweep %s` goes on with that one",
			dir, dir)
	}
	return nil
}

// OpenSearch reads the search of a folder. The error is fs.ErrNotExist when it holds none.
func OpenSearch(dir string) (Search, error) {
	var s Search
	text, err := os.ReadFile(filepath.Join(dir, SearchFile))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil || s.Format != Format {
		return s, fmt.Errorf("%s: %w: its %s is not of format %s", dir, ErrPlan, SearchFile, Format)
	}
	if s.Version != hyper.Version {
		return s, fmt.Errorf("%s: %w: version %s made it: use that, not %s", dir, ErrPlan, s.Version, hyper.Version)
	}
	return s, nil
}

// Run goes on with the search: run is given the sweep of each rung in turn, and may return an error to go on later. The
// result is written to tune.json, as `hyper tune` does.
func (s Search) Run(dir string, known map[string]lab.Experiment, run func(rung string, p Plan) error) (
	lab.Tuning, error) {
	t, err := s.Tuning.Search(known, func(rung int, spec lab.Spec) (lab.Header, []lab.Row, error) {
		path := Rung(dir, rung)
		p, err := New(spec, s.Options)
		p.Mix = s.Mix
		if err == nil {
			err = p.Create(path, known)
		}
		if err == nil {
			err = run(path, p)
		}
		if err != nil {
			return lab.Header{}, nil, err
		}
		return p.Rows(path, known)
	})
	if err != nil {
		return t, err
	}
	text, err := json.MarshalIndent(t, "", " ")
	if err != nil {
		return t, err
	}
	return t, lab.WriteFile(filepath.Join(dir, "tune.json"), append(text, '\n'))
}

// Rung is the folder of a rung, counted from 1.
func Rung(dir string, number int) string { return filepath.Join(dir, fmt.Sprintf("rung-%d", number)) }
