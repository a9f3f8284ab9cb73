// Package sweep runs experiments in more than one process. It divides the runs of a sweep into shards. Each shard is an
// idempotent, resumable task with a result folder of its own. Any number of workers, on one machine or many, can run
// the shards in any order.
//
// A sweep's folder holds these files:
//
//	plan.json                      the Spec and the shards: written once, never changed
//	shards/0007/results.jsonl      rows of shard 7, as `hyper run` writes them; resumed exactly
//	shards/0007/events.jsonl       events of the shard: starts, interruptions, failures, the end with a checksum
//	shards/0007/heartbeat.json     progress of the shard, from its worker
//
// [New] makes a plan, and [Plan.Create] makes its folder. [Local] runs shards in processes of this machine, [Slurm] as
// a job array and [Kubernetes] as an Indexed Job; the last two use a command that calls [Plan.RunShard]. [Plan.States]
// reports the state of each shard, and [Plan.Rows] joins their rows.
package sweep

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/saved"
	"github.com/hypermodels/hypermodels/hyper/internal/shell"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Format is the name of the layout of plan files.
const Format = "hypermodels-sweep-1"

// PlanFile is the name of the plan in a sweep's folder.
const PlanFile = "plan.json"

// ErrPlan is the cause of errors about a plan that is damaged or belongs to another sweep.
var ErrPlan = errors.New("not a usable plan")

// Plan is a sweep that is divided into shards. It does not state who runs the shards.
type Plan struct {
	Format     string         `json:"format"`
	Version    string         `json:"version"`
	Provenance lab.Provenance `json:"provenance,omitzero"` // the code that made the plan
	Backend    string         `json:"backend"`
	BatchRuns  int            `json:"batch_runs"` // number of runs that advance together
	Spec       lab.Spec       `json:"spec"`
	Shards     []Shard        `json:"shards"`
	// Mix, if not nil, allows shards that different code made. It is called with the reason why they differ, and the
	// shards are run and merged. If Mix is nil, this is an error, which wraps lab.ErrMixed. See lab.Options.
	Mix func(why error) `json:"-"`
}

// Shard is a range of seeds for some entries of one shape.
type Shard struct {
	Entries []int `json:"entries"` // indices in the plan's Spec.Entries
	First   int   `json:"first"`   // number of its first run of each entry, which has seed Spec.Seed + First
	Runs    int   `json:"runs"`
}

// Options determine how New divides a Spec.
type Options struct {
	Backend   string `json:"backend"`    // "" is backend.Default()
	BatchRuns int    `json:"batch_runs"` // 0 chooses a number that suits the backend
	// Shards is the approximate number of shards. 0 means 32, or fewer if the shards would be smaller than a batch.
	Shards int `json:"shards"`
}

// New plans a sweep. The plan depends only on the arguments, not on the cores of the machine or the number of workers.
func New(spec lab.Spec, o Options) (Plan, error) {
	if err := spec.Validate(); err != nil {
		return Plan{}, err
	}
	if o.BatchRuns < 0 || o.Shards < 0 {
		return Plan{}, fmt.Errorf("the number of shards and the runs in a batch must not be negative, got %d and %d",
			o.Shards, o.BatchRuns)
	}
	o.Backend = cmp.Or(o.Backend, backend.Default())
	if err := backend.Check(o.Backend); err != nil {
		return Plan{}, err
	}
	if o.BatchRuns == 0 {
		o.BatchRuns = lab.Options{Backend: o.Backend}.Defaults(lab.Spec{}).BatchRuns
	}
	return Plan{Format: Format, Version: hyper.Version, Provenance: lab.ThisProvenance(o.Backend), Backend: o.Backend,
		BatchRuns: o.BatchRuns, Spec: spec, Shards: cut(spec, cmp.Or(o.Shards, 32), o.BatchRuns)}, nil
}

// Create writes the plan to a folder. If the folder already has a plan, it must be the same; the sweep then continues.
func (p Plan) Create(dir string, known map[string]lab.Experiment) error {
	if found, err := writeOnce(filepath.Join(dir, PlanFile), p); err != nil || !found {
		return err
	}
	existing, err := Open(dir, known)
	if err != nil {
		return err
	}
	if what := p.difference(existing); what != "" {
		return fmt.Errorf("%s holds a sweep with %s: choose another folder, or continue that sweep with "+
			"`hyper sweep %s`", dir, what, shell.Word(dir))
	}
	return nil
}

// difference describes in words how an existing plan differs. It returns "" if the plans are equal.
func (p Plan) difference(other Plan) string {
	switch {
	case !p.Spec.Equal(other.Spec):
		return strings.Join(other.Spec.Differences(p.Spec), ", ")
	case p.Backend != other.Backend:
		return "backend " + other.Backend
	case p.BatchRuns != other.BatchRuns:
		return fmt.Sprintf("batches of %d runs", other.BatchRuns)
	case !reflect.DeepEqual(p.Shards, other.Shards):
		return fmt.Sprintf("%d shards", len(other.Shards))
	}
	return ""
}

// Open reads the plan of a sweep's folder. The error wraps ErrPlan if there is no plan of this version.
func Open(dir string, known map[string]lab.Experiment) (Plan, error) {
	text, err := os.ReadFile(filepath.Join(dir, PlanFile))
	if _, missing := os.Stat(dir); errors.Is(missing, fs.ErrNotExist) {
		return Plan{}, fmt.Errorf("%w: there is no folder %s", ErrPlan, dir)
	} else if err != nil {
		return Plan{}, fmt.Errorf("%w: %s has no %s", ErrPlan, dir, PlanFile)
	}
	var raw struct {
		Plan
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(text, &raw); err != nil || raw.Format != Format {
		return Plan{}, fmt.Errorf("%s: %w: the file does not have the format %s", dir, ErrPlan, Format)
	}
	p := raw.Plan
	if p.Spec, err = lab.ParseSpec(raw.Spec, known); err != nil {
		return Plan{}, fmt.Errorf("%s: %w: %v", dir, ErrPlan, err)
	}
	if p.Version != hyper.Version {
		return Plan{}, fmt.Errorf("%s: %w: version %s made the plan: use that version, not "+
			"%s", dir, ErrPlan, p.Version, hyper.Version)
	}
	return p, p.check(dir)
}

// check returns an error unless every run of every entry is in exactly one shard.
func (p Plan) check(dir string) error {
	parts := make([][]Shard, len(p.Spec.Entries))
	for _, s := range p.Shards {
		for _, e := range s.Entries {
			if e < 0 || e >= len(parts) || s.Runs < 1 || s.Runs > p.Spec.Runs {
				return fmt.Errorf("%s: %w: a shard has %d runs of entry %d, which are not in the Spec", dir, ErrPlan,
					s.Runs, e)
			}
			parts[e] = append(parts[e], s)
		}
	}
	for e, shards := range parts {
		slices.SortFunc(shards, func(a, b Shard) int { return cmp.Compare(a.First, b.First) })
		next := 0
		for _, s := range shards {
			if s.First != next {
				return fmt.Errorf("%s: %w: entry %d, run %d is in two shards or in none", dir, ErrPlan, e,
					min(next, s.First))
			}
			next += s.Runs
		}
		if next != p.Spec.Runs {
			return fmt.Errorf("%s: %w: the shards have %d of %d runs of entry %d", dir, ErrPlan, next, p.Spec.Runs, e)
		}
	}
	return nil
}

// mayRun returns an error unless this code may run shards of the plan: the shards must be the same as the ones that the
// code of the plan would make. mayRun does not compare the plugin, because a sweep may be planned on one machine and
// run by an image on another. Merging compares shards with each other.
func (p Plan) mayRun() error {
	planned := lab.Header{Version: p.Version, Provenance: p.Provenance}.Code()[0]
	why := planned.Mixable(lab.ThisProvenance(p.Backend), p.Spec.Experiment, p.Spec.Entries)
	if why == nil {
		return nil
	}
	return p.mixed(fmt.Errorf("other code planned the sweep: %w", why))
}

func (p Plan) mixed(why error) error {
	if p.Mix == nil {
		return why
	}
	p.Mix(why)
	return nil
}

// ShardSpec returns the Spec that a shard runs.
func (p Plan) ShardSpec(n int) lab.Spec {
	s := p.Shards[n]
	spec := lab.Spec{Experiment: p.Spec.Experiment, Periods: p.Spec.Periods, Runs: s.Runs,
		Seed: p.Spec.Seed + uint64(s.First)}
	for _, e := range s.Entries {
		spec.Entries = append(spec.Entries, p.Spec.Entries[e])
	}
	return spec
}

func (p Plan) runPeriods(n int) int64 {
	s := p.Shards[n]
	return int64(len(s.Entries)) * int64(s.Runs) * int64(p.Spec.Periods)
}

// ShardDir returns the result folder of a shard.
func ShardDir(dir string, n int) string { return filepath.Join(dir, "shards", fmt.Sprintf("%04d", n)) }

// writeOnce writes a value as JSON to a file, atomically. If the file exists already, writeOnce leaves it and returns
// found as true.
func writeOnce(path string, value any) (found bool, err error) {
	text, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return false, err
	}
	draft := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := saved.WriteFile(draft, append(text, '\n')); err != nil {
		return false, err
	}
	err = os.Link(draft, path) // fails if the path exists, unlike a rename
	if errors.Is(err, fs.ErrExist) {
		found, err = true, nil
	}
	return found, errors.Join(err, os.Remove(draft))
}
