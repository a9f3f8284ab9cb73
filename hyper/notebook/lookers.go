package notebook

import (
	"context"
	"strings"
	"sync"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// mostLookers is how many settings that need programs of their own are kept compiled: programs hold memory.
const mostLookers = 12

// lookers look into the beliefs of Specs. They keep the programs of the latest shapes of entries, each in a Looker.
type lookers struct {
	ahead sync.Mutex // of the goroutine that compiles what nobody has asked for yet

	mu    sync.Mutex
	all   map[string]*looker
	order []string // of shapes, the latest last
}

// looker is a Looker that one goroutine uses at a time.
type looker struct {
	mu sync.Mutex
	lab.Looker
	compiled bool
}

// of returns the looker of a Spec's shapes.
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

// look is lab.Looker.Look.
func (l *lookers) look(ctx context.Context, spec lab.Spec, period int) ([]lab.Row, []lab.Belief, error) {
	one := l.of(spec)
	one.mu.Lock()
	defer one.mu.Unlock()
	if err := ctx.Err(); err != nil { // while it waited
		return nil, nil, err
	}
	rows, beliefs, err := one.Look(ctx, spec, period, exploreFunctions)
	one.compiled = one.compiled || err == nil
	return rows, beliefs, err
}

// compile makes what look needs for a Spec.
func (l *lookers) compile(spec lab.Spec) error {
	one := l.of(spec)
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.compiled {
		return nil
	}
	_, _, err := one.Look(context.Background(), spec, 1, exploreFunctions)
	one.compiled = err == nil
	return err
}
