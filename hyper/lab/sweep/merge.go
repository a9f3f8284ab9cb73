package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/process"
	"github.com/hypermodels/hypermodels/hyper/internal/shell"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// ErrUnfinished reports that a sweep has shards that are not done.
var ErrUnfinished = errors.New("unfinished sweep")

// Rows joins the rows of all shards, in the order of entry, period and run. The rows depend only on the plan's Spec and
// backend, not on the shards, their order, or the machines that ran them. The header has no batch size; its Machine has
// only the properties that all shards share, without the number of cores. The error wraps ErrUnfinished or ErrDamaged
// and names the shards, or it wraps lab.ErrMixed, see Plan.Mix.
func (p Plan) Rows(dir string, known map[string]lab.Experiment) (lab.Header, []lab.Row, error) {
	states, err := p.States(dir)
	if err != nil {
		return lab.Header{}, nil, err
	}
	if err := unready(dir, states); err != nil {
		return lab.Header{}, nil, err
	}
	out := lab.Header{Format: lab.Format, Spec: p.Spec, Version: p.Version, Backend: p.Backend}
	var rows []lab.Row
	var first lab.Header
	for n := range p.Shards {
		h, part, err := p.readShard(ShardDir(dir, n), n, known)
		if err != nil {
			return lab.Header{}, nil, err
		}
		if n == 0 {
			first, out.Provenance = h, h.Provenance
		}
		if err := p.sameCode(first, h, n); err != nil {
			return lab.Header{}, nil, err
		}
		out.MadeBy(h.Code()...)
		out.Machine = agreed(n, out.Machine, h.Machine)
		rows = append(rows, part...)
	}
	slices.SortFunc(rows, func(a, b lab.Row) int {
		return cmp.Or(cmp.Compare(a.Entry, b.Entry), cmp.Compare(a.Period, b.Period), cmp.Compare(a.Run, b.Run))
	})
	return out, rows, nil
}

// sameCode returns an error unless shard n was made by the same code as the first shard, with the same libraries.
func (p Plan) sameCode(first, h lab.Header, n int) error {
	for _, before := range first.Code() {
		for _, now := range h.Code() {
			if why := before.Continues(now, p.Spec.Experiment, p.Spec.Entries); before != now && why != nil {
				return p.mixed(fmt.Errorf("shards 0 and %d: %w", n, why))
			}
		}
	}
	return nil
}

func unready(dir string, states []Status) error {
	var left, damaged []int
	for _, s := range states {
		switch s.State {
		case Done:
		case Damaged:
			damaged = append(damaged, s.Shard)
		default:
			left = append(left, s.Shard)
		}
	}
	again := fmt.Sprintf("`hyper sweep %s` runs them", shell.Word(dir))
	if len(damaged) > 0 {
		return fmt.Errorf("%s: %w: shards %s; %s again", dir, ErrDamaged, Ranges(damaged), again)
	}
	if len(left) > 0 {
		return fmt.Errorf("%s: %w: shards %s are not done; %s", dir, ErrUnfinished, Ranges(left), again)
	}
	return nil
}

// agreed keeps the properties that two machines have in common. n is the number of the shard; the first is kept as it
// is.
func agreed(n int, a, b process.Machine) process.Machine {
	b.CPUs = 0 // a worker may have had only some of the cores
	if n == 0 {
		return b
	}
	keep := func(x *string, y string) {
		if *x != y {
			*x = ""
		}
	}
	keep(&a.OS, b.OS)
	keep(&a.Arch, b.Arch)
	keep(&a.CPU, b.CPU)
	keep(&a.Go, b.Go)
	return a
}

// readShard reads a finished shard, with the entries and runs renumbered as in the plan's Spec. lab.ReadResults refuses
// rows that occur twice or are not in the Spec; readShard refuses a shard with missing rows.
func (p Plan) readShard(path string, n int, known map[string]lab.Experiment) (lab.Header, []lab.Row, error) {
	h, rows, err := lab.ReadResults(path, known)
	if err != nil {
		return h, nil, err
	}
	want := p.ShardSpec(n)
	if !h.Spec.Equal(want) || h.Backend != p.Backend {
		return h, nil, fmt.Errorf("%w: %s holds settings, seeds or a backend that differ from the "+
			"plan", ErrDamaged, path)
	}
	if all := want.Rows(); len(rows) != all {
		return h, nil, fmt.Errorf("%w: %s has %d of %d rows", ErrDamaged, path, len(rows), all)
	}
	for i, r := range rows {
		rows[i].Entry, rows[i].Run = p.Shards[n].Entries[r.Entry], p.Shards[n].First+r.Run
	}
	return h, rows, nil
}

// Ranges writes increasing numbers in the notation of Slurm: 0-3,7.
func Ranges(numbers []int) string {
	var out []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		text := fmt.Sprint(numbers[i])
		if j > i {
			text += fmt.Sprint("-", numbers[j])
		}
		out = append(out, text)
		i = j + 1
	}
	return strings.Join(out, ",")
}
