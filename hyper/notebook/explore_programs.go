package notebook

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// mostPrograms is the maximum number of compiled programs. Programs need memory.
const mostPrograms = 12

// beliefPrograms computes the beliefs of Specs. It keeps the compiled programs for the latest shapes of entries.
type beliefPrograms struct {
	ahead sync.Mutex // held by the goroutine that compiles in advance

	mu    sync.Mutex
	all   map[string]*beliefProgram
	order []string // keys of all, the latest last
}

// beliefProgram has the programs of one shape, for one goroutine at a time.
type beliefProgram struct {
	mu sync.Mutex
	lab.BeliefReader
	compiled bool
}

// of returns the programs for the shapes of a Spec's entries.
func (l *beliefPrograms) of(spec lab.Spec) *beliefProgram {
	var shapes []string
	for _, e := range spec.Entries {
		shapes = append(shapes, e.Shape())
	}
	key := strings.Join(shapes, "\n")
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := slices.Index(l.order, key); at >= 0 {
		l.order = append(slices.Delete(l.order, at, at+1), key)
		return l.all[key]
	}
	if l.all == nil {
		l.all = map[string]*beliefProgram{}
	}
	if len(l.order) == mostPrograms {
		delete(l.all, l.order[0])
		l.order = l.order[1:]
	}
	l.all[key], l.order = new(beliefProgram), append(l.order, key)
	return l.all[key]
}

// beliefs returns the rows of a Spec's runs, and the beliefs of its first run after a period.
func (l *beliefPrograms) beliefs(ctx context.Context, spec lab.Spec, period int) ([]lab.Row, []lab.Belief, error) {
	one := l.of(spec)
	one.mu.Lock()
	defer one.mu.Unlock()
	if err := ctx.Err(); err != nil { // ctx may have ended while this waited
		return nil, nil, err
	}
	rows, beliefs, err := one.Read(ctx, spec, period, exploreFunctions)
	one.compiled = one.compiled || err == nil
	return rows, beliefs, err
}

// compile compiles the programs that beliefs needs for a Spec.
func (l *beliefPrograms) compile(spec lab.Spec) error {
	one := l.of(spec)
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.compiled {
		return nil
	}
	_, _, err := one.Read(context.Background(), spec, 1, exploreFunctions)
	one.compiled = err == nil
	return err
}
