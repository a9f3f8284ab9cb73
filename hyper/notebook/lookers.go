package notebook

import (
	"context"
	"strings"
	"sync"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// mostLookers is the maximum number of compiled programs. Programs need memory.
const mostLookers = 12

// lookers computes the beliefs of Specs. It keeps the programs of the latest shapes of entries, each in a Looker.
type lookers struct {
	ahead sync.Mutex // held by the goroutine that compiles in advance

	mu    sync.Mutex
	all   map[string]*looker
	order []string // keys of all, the latest last
}

// looker is a Looker for one goroutine at a time.
type looker struct {
	mu sync.Mutex
	lab.BeliefReader
	compiled bool
}

// of returns the looker for a Spec's shapes.
func (l *lookers) of(spec lab.Spec) *looker {
	var shapes []string
	for _, e := range spec.Entries {
		shapes = append(shapes, e.Shape())
	}
	key := strings.Join(shapes, "\n")
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, other := range l.order {
		if other == key {
			l.order = append(append(l.order[:i:i], l.order[i+1:]...), key)
			return l.all[key]
		}
	}
	if l.all == nil {
		l.all = map[string]*looker{}
	}
	if len(l.order) == mostLookers {
		delete(l.all, l.order[0])
		l.order = l.order[1:]
	}
	l.all[key], l.order = new(looker), append(l.order, key)
	return l.all[key]
}

// look returns the result of lab.BeliefReader.Look.
func (l *lookers) look(ctx context.Context, spec lab.Spec, period int) ([]lab.Row, []lab.Belief, error) {
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

// compile compiles the programs that look needs for a Spec.
func (l *lookers) compile(spec lab.Spec) error {
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
