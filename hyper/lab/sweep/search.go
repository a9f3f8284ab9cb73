package sweep

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/lab/tune"
)

// SearchFile is the name of the file of a search in its folder.
const SearchFile = "search.json"

// Search is successive halving with sweeps. Each rung is a sweep in a folder of its own, rung-1, rung-2, ..., which is
// planned when the rung before it is done.
type Search struct {
	Format     string          `json:"format"`
	Version    string          `json:"version"`
	Provenance lab.Provenance  `json:"provenance,omitzero"` // the code that began the search
	Options    Options         `json:"options"`
	Tuning     tune.Search     `json:"tuning"` // without rungs
	Mix        func(why error) `json:"-"`      // Mix of its plans, see Plan
}

// NewSearch checks a search, and sets the options that would otherwise depend on the machine.
func NewSearch(t tune.Search, known map[string]lab.Experiment, o Options) (Search, error) {
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

// Create writes the search to a folder. If the folder already has a search, it must be the same.
func (s Search) Create(dir string) error {
	if found, err := writeOnce(filepath.Join(dir, SearchFile), s); err != nil || !found {
		return err
	}
	existing, err := OpenSearch(dir)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(s.Options, existing.Options) || !reflect.DeepEqual(s.Tuning, existing.Tuning) {
		return fmt.Errorf("%s holds another search: choose another folder, or continue that search with `hyper "+
			"sweep %s`", dir, dir)
	}
	return nil
}

// OpenSearch reads the search of a folder. The error is fs.ErrNotExist if the folder has no search.
func OpenSearch(dir string) (Search, error) {
	var s Search
	text, err := os.ReadFile(filepath.Join(dir, SearchFile))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil || s.Format != Format {
		return s, fmt.Errorf("%s: %w: the file %s does not have the format %s", dir, ErrPlan, SearchFile, Format)
	}
	if s.Version != hyper.Version {
		return s, fmt.Errorf("%s: %w: version %s made the search: use that version, not "+
			"%s", dir, ErrPlan, s.Version, hyper.Version)
	}
	return s, nil
}

// Run continues the search. It calls run with the sweep of each rung in turn; run may return an error to continue
// later. Run writes the result to tune.json, as `hyper tune` does.
func (s Search) Run(dir string, known map[string]lab.Experiment, run func(rung string, p Plan) error) (
	tune.Search, error) {
	t, err := s.Tuning.RunWith(known, func(rung int, spec lab.Spec) (lab.Header, []lab.Row, error) {
		path := tune.RungDir(dir, rung)
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
	return t, t.Save(dir)
}
