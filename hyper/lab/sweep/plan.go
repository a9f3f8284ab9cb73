// Package sweep carries experiments beyond one process: a sweep's runs are cut into shards, each of which is an
// idempotent, resumable task with a result folder of its own, so that any number of workers, on one machine or many,
// can do them in any order.
//
// A sweep's folder holds
//
//	plan.json                      what is run, and its shards: written once, never changed
//	shards/0007/results.jsonl      rows of shard 7, as `hyper run` writes them, to resume to the byte
//	shards/0007/events.jsonl       what happened to it: starts, interruptions, failures, the end and checksum
//	shards/0007/heartbeat.json     how far it is, by its worker
//
// [New] makes a plan and [Plan.Create] its folder; [Local] runs shards by processes of this machine, [Slurm] by a job
// array and [Kubernetes] by an Indexed Job, both by a command that calls [Plan.RunShard]; [Plan.States] tells how each
// shard is, and [Plan.Merge] joins their rows.
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

	"github.com/hypermodels/hypermodels/hyper"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Format names the layout of plan files.
const Format = "hypermodels-sweep-1"

// PlanFile is the name of the plan in a sweep's folder.
const PlanFile = "plan.json"

// ErrPlan is the cause of errors about a plan that is damaged, or is of another sweep.
var ErrPlan = errors.New("not a usable plan")

// Plan is a sweep cut into shards. It does not say who runs them.
type Plan struct {
	Format     string         `json:"format"`
	Version    string         `json:"version"`
	Provenance lab.Provenance `json:"provenance,omitzero"` // of the code that made the plan
	Backend    string         `json:"backend"`
	BatchRuns  int            `json:"batch_runs"` // runs advanced together
	Spec       lab.Spec       `json:"spec"`
	Shards     []Shard        `json:"shards"`
	// Mix, if given, hears why shards are not of one kind, and they are run and merged nevertheless; without it that is
	// an error, which wraps lab.ErrMixed. See lab.Options.
	Mix func(why error) `json:"-"`
}

// Shard is a range of seeds of some entries of one shape.
type Shard struct {
	Entries []int `json:"entries"` // positions in the plan's Spec.Entries
	First   int   `json:"first"`   // its first run of each: seed Spec.Seed + First
	Runs    int   `json:"runs"`
}

// Options shape a plan.
type Options struct {
	Backend   string `json:"backend"`    // "" is backend.Default()
	BatchRuns int    `json:"batch_runs"` // 0 is a good number for the backend
	// about so many in all; 0 is 32, or fewer where they would be less than a batch
	Shards int `json:"shards"`
}

// New plans a sweep. The plan follows from the arguments alone, not from the machine's cores or the workers.
func New(spec lab.Spec, o Options) (Plan, error) {
	if err := spec.Validate(); err != nil {
		return Plan{}, err
	}
	if o.BatchRuns < 0 || o.Shards < 0 {
		return Plan{}, fmt.Errorf("numbers of shards and of runs in a batch must not be negative, got %d and %d",
			o.Shards, o.BatchRuns)
	}
	if o.Backend == "" {
		o.Backend = backend.Default()
	}
	if err := backend.Check(o.Backend); err != nil {
		return Plan{}, err
	}
	if o.BatchRuns == 0 {
		o.BatchRuns = lab.BatchRuns(o.Backend)
	}
	if o.Shards == 0 {
		o.Shards = 32
	}
	p := Plan{Format: Format, Version: hyper.Version, Provenance: lab.ThisProvenance(o.Backend), Backend: o.Backend,
		BatchRuns: o.BatchRuns, Spec: spec}
	p.Shards = cut(spec, o.Shards, o.BatchRuns)
	return p, nil
}

// Create writes the plan into a folder. If one is there already it must be the same: the sweep then goes on.
func (p Plan) Create(dir string, known map[string]lab.Experiment) error {
	if found, err := writeOnce(filepath.Join(dir, PlanFile), p); err != nil || !found {
		return err
	}
	there, err := Open(dir, known)
	if err != nil {
		return err
	}
	if what := p.difference(there); what != "" {
		return fmt.Errorf("%s holds a sweep with %s: choose another folder, or `hyper sweep %s` goes on with that one",
			dir, what, dir)
	}
	return nil
}

// difference says in which way another plan differs, or "".
func (p Plan) difference(other Plan) string {
	switch {
	case !p.Spec.Equal(other.Spec):
		return "other settings, periods, runs or seed"
	case p.Backend != other.Backend:
		return "backend " + other.Backend
	case p.BatchRuns != other.BatchRuns:
		return fmt.Sprintf("batches of %d runs", other.BatchRuns)
	case !reflect.DeepEqual(p.Shards, other.Shards):
		return fmt.Sprintf("%d shards", len(other.Shards))
	}
	return ""
}

// Open reads the plan of a sweep's folder. The error wraps ErrPlan without a plan of this version.
func Open(dir string, known map[string]lab.Experiment) (Plan, error) {
	text, err := os.ReadFile(filepath.Join(dir, PlanFile))
	if err != nil {
		return Plan{}, fmt.Errorf("%w: %s has no %s", ErrPlan, dir, PlanFile)
	}
	var raw struct {
		Plan
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(text, &raw); err != nil || raw.Format != Format {
		return Plan{}, fmt.Errorf("%s: %w: it is not of format %s", dir, ErrPlan, Format)
	}
	p := raw.Plan
	if p.Spec, _, err = lab.ParseSpec(raw.Spec, known); err != nil {
		return Plan{}, fmt.Errorf("%s: %w: %v", dir, ErrPlan, err)
	}
	if p.Version != hyper.Version {
		return Plan{}, fmt.Errorf("%s: %w: version %s made it: use it, not %s", dir, ErrPlan, p.Version, hyper.Version)
	}
	return p, p.check(dir)
}

// check tells whether every run of every entry is in exactly one shard.
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
				return fmt.Errorf("%s: %w: entry %d, run %d is in two shards, or in none", dir, ErrPlan, e,
					min(next, s.First))
			}
			next += s.Runs
		}
		if next != p.Spec.Runs {
			return fmt.Errorf("%s: %w: its shards have %d of %d runs of entry %d", dir, ErrPlan, next, p.Spec.Runs, e)
		}
	}
	return nil
}

// mayRun tells whether this code may do shards of the plan: whether they will be what the code that planned them would
// make. The plugin is not asked for, since a sweep may be planned on one machine and run by the image of another;
// shards are compared with each other when they are merged.
func (p Plan) mayRun() error {
	planned := lab.Header{Version: p.Version, Provenance: p.Provenance}.Code()[0]
	why := planned.Mixable(lab.ThisProvenance(p.Backend), p.Spec.Experiment, p.Spec.Entries)
	if why == nil {
		return nil
	}
	return p.mixed(fmt.Errorf("the sweep was planned by other code: %w", why))
}

func (p Plan) mixed(why error) error {
	if p.Mix == nil {
		return why
	}
	p.Mix(why)
	return nil
}

// ShardSpec is what a shard runs.
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

// ShardDir is the result folder of a shard.
func ShardDir(dir string, n int) string { return filepath.Join(dir, "shards", fmt.Sprintf("%04d", n)) }

// writeOnce writes a value as JSON into a file, atomically. If the file is there already it is found, and stays.
func writeOnce(path string, value any) (found bool, err error) {
	text, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return false, err
	}
	draft := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := lab.WriteFile(draft, append(text, '\n')); err != nil {
		return false, err
	}
	err = os.Link(draft, path) // fails if the path is there, which a rename does not
	if errors.Is(err, fs.ErrExist) {
		found, err = true, nil
	}
	return found, errors.Join(err, os.Remove(draft))
}
