package zmtp

import (
	"errors"
	"sync"
	"time"
)

// maxQueued is how many bytes may wait for a peer that reads more slowly than it is sent to. A single message may be
// longer.
const maxQueued = 16 << 20

// What may wait for a subscriber. Outputs that may be left out, see [Pub.Offer], are left out beyond maxOffered: a
// reader of 0.3 MB/s needs more than three minutes for as much, and a notebook of that size hardly opens. The reserve
// is for what must come, such as the end of a cell: a hundred thousand short messages.
const (
	maxOffered = 64 << 20
	reserve    = 64 << 20
)

var (
	errFull = errors.New("the peer does not read what it is sent")
	errGone = errors.New("there is no such peer")
)

// queue holds what is to be sent to a peer, in order. Those of several subscribers share the bytes of a message.
type queue struct {
	most, reserve int // how many bytes may wait, and how many more of what must come
	mu            sync.Mutex
	changed       *sync.Cond
	list          []item
	bytes         int // of the list
	closed        bool
	leavesOut     bool // what is offered is left out until half of most has been read
	gap           *gap // the latest in the list, while it counts
}

// item is a message, or the place of some that were left out.
type item struct {
	wire []byte
	gap  *gap
}

// gap counts what was left out in one place.
type gap struct {
	Instead
	left int
}

func newQueue(most, reserve int) *queue {
	q := &queue{most: most, reserve: reserve}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// push adds to the queue, unless it is full or closed.
func (q *queue) push(wire []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.add(wire, q.most+q.reserve)
}

// add is push, of a lock that is held.
func (q *queue) add(wire []byte, most int) bool {
	if q.closed || q.bytes > 0 && q.bytes+len(wire) > most {
		return false
	}
	q.list = append(q.list, item{wire: wire})
	q.bytes += len(wire)
	q.changed.Broadcast()
	return true
}

// offer adds what may be left out, or leaves it out where others were just left out. It is false when the queue is full
// or closed: then leaveOut may follow.
func (q *queue) offer(wire []byte, instead Instead) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.leavesOut && q.bytes > q.most/2 {
		q.count(len(wire), instead)
		return true
	}
	q.leavesOut, q.gap = false, nil
	return q.add(wire, q.most)
}

// leaveOut begins to leave out what is offered, with a message.
func (q *queue) leaveOut(wire []byte, instead Instead) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.leavesOut = true
	q.count(len(wire), instead)
}

// count adds to the latest gap, if that is of the same group, or makes one.
func (q *queue) count(n int, instead Instead) {
	if q.gap == nil || q.gap.Group != instead.Group {
		q.gap = &gap{Instead: instead}
		q.list = append(q.list, item{gap: q.gap})
		q.changed.Broadcast()
	}
	q.gap.left += n
}

// pop waits for what is to be sent next; last tells that nothing else waits. ok is false at the end.
func (q *queue) pop() (wire []byte, last, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) == 0 {
		if q.closed {
			return nil, true, false
		}
		q.changed.Wait()
	}
	next := q.list[0]
	q.list[0] = item{}
	q.list = q.list[1:]
	q.bytes -= len(next.wire)
	if next.gap != nil {
		if q.gap == next.gap {
			q.gap = nil
		}
		next.wire = next.gap.Message(next.gap.left).wire()
	}
	q.changed.Broadcast()
	return next.wire, len(q.list) == 0, true
}

// drained waits until no more than half of what may wait is left, and tells whether that was so before the deadline.
func (q *queue) drained(deadline time.Time) bool {
	wake := time.AfterFunc(time.Until(deadline), func() {
		q.mu.Lock() // not between a look at the clock and Wait
		defer q.mu.Unlock()
		q.changed.Broadcast()
	})
	defer wake.Stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && q.bytes > q.most/2 && time.Now().Before(deadline) {
		q.changed.Wait()
	}
	return !q.closed && q.bytes <= q.most/2
}

// close ends the queue: nothing more is taken, and pop ends when all has been sent.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}
