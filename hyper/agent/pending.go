package agent

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"
)

// These errors of Observe concern decisions.
var (
	// ErrUnknown means that a Feedback names a decision that the agent has not made.
	ErrUnknown = errors.New("no such decision")
	// ErrExpired means that a Feedback comes too late: the agent has forgotten the decision's input.
	ErrExpired = errors.New("the decision has expired")
)

// mostPending is the default of Config.Pending for short inputs. pendingBytes is the default bound of the memory of
// decisions with long inputs: each takes waitingBytes and its input.
const (
	mostPending  = 1 << 16
	pendingBytes = 64 << 20
	waitingBytes = 200
)

// defaultPending returns the default of Config.Pending.
func defaultPending(features int) int {
	return min(mostPending, max(1, pendingBytes/(waitingBytes+4*max(features, 1))))
}

// pending holds the decisions whose feedback may still arrive: the last ones, in a ring. Its memory grows with the
// number of decisions up to size, and no further.
type pending struct {
	size   int           // largest number of decisions kept
	expire time.Duration // largest age at which feedback is taken; 0 means any age
	reward Reward

	mu    sync.Mutex
	ring  []waiting // decision n is at index n mod size
	next  uint64    // the number of the next decision
	queue queue     // the decisions that are settled by time
}

// waiting is a decision that the agent remembers.
type waiting struct {
	number  uint64
	salt    uint32 // random part of the ID: a decision made again after a crash gets the same number and a new salt
	made    time.Time
	x       []float32 // input of the chosen action
	counted bool      // whether the agent has learned from it
	outcome
}

func (w waiting) id() string { return fmt.Sprintf("%x-%08x", w.number, w.salt) }

func newWaiting(number uint64, x []float32, now time.Time) waiting {
	return waiting{number: number, salt: rand.Uint32(), made: now, x: append([]float32(nil), x...)}
}

// put remembers a decision. It returns true if this decision is the next to be settled.
func (p *pending) put(w waiting) (first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep(w)
	return p.wait(&w)
}

// keep stores a decision in the ring, unless a later decision has its place.
func (p *pending) keep(w waiting) {
	place := int(w.number % uint64(p.size))
	for len(p.ring) <= place {
		p.ring = append(p.ring, waiting{})
	}
	if old := p.ring[place]; old.x == nil || old.number < w.number {
		p.ring[place] = w
	}
	p.next = max(p.next, w.number+1)
}

// lookUp returns a decision. The error wraps ErrUnknown or ErrExpired. A decision that is too old at the time now has
// expired; a zero time skips this check.
func (p *pending) lookUp(id string, now time.Time) (waiting, error) {
	number, salt, err := parseID(id)
	if err != nil {
		return waiting{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w, err := p.find(number)
	switch {
	case err != nil:
		return waiting{}, fmt.Errorf("decision %s: %w", id, err)
	case w.salt != salt:
		return waiting{}, fmt.Errorf("decision %s: %w", id, ErrUnknown)
	case p.expire > 0 && !now.IsZero() && now.Sub(w.made) > p.expire:
		return waiting{}, fmt.Errorf("decision %s: %w: it is older than %v", id, ErrExpired, p.expire)
	}
	return *w, nil
}

// change applies f to a decision, if it is still remembered. It returns true if this decision is now the next to be
// settled.
func (p *pending) change(number uint64, f func(*waiting)) (first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, err := p.find(number)
	if err != nil {
		return false
	}
	f(w)
	return p.wait(w)
}

// find returns the decision with a number.
func (p *pending) find(number uint64) (*waiting, error) {
	place := int(number % uint64(p.size))
	switch {
	case number >= p.next:
		return nil, ErrUnknown
	case place >= len(p.ring) || p.ring[place].x == nil || p.ring[place].number != number:
		return nil, fmt.Errorf("%w: the agent has made %d decisions since", ErrExpired, p.next-number-1)
	}
	return &p.ring[place], nil
}

// parseID parses an ID that waiting.id made.
func parseID(id string) (number uint64, salt uint32, err error) {
	left, right, ok := strings.Cut(id, "-")
	a, err1 := strconv.ParseUint(left, 16, 64)
	b, err2 := strconv.ParseUint(right, 16, 32)
	if !ok || err1 != nil || err2 != nil || (waiting{number: a, salt: uint32(b)}).id() != id {
		return 0, 0, fmt.Errorf("decision %.40q: %w", id, ErrUnknown)
	}
	return a, uint32(b), nil
}

// restore remembers the decisions of a file; next is the number of decisions that the agent has made.
func (p *pending) restore(all []waiting, next uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = next
	for _, w := range all {
		p.keep(w)
		p.wait(&w)
	}
}

// made returns the number of the next decision.
func (p *pending) made() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next
}

// all returns the decisions that are kept, oldest first.
func (p *pending) all() (out []waiting) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for back := uint64(len(p.ring)); back > 0; back-- {
		if number := p.next - back; back <= p.next {
			if w, err := p.find(number); err == nil {
				out = append(out, *w)
			}
		}
	}
	return out
}
