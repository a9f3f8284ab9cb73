package zmtp

import (
	"errors"
	"sync"
	"time"
)

// maxQueued is the maximum number of bytes that wait for a slow peer. A single message may be longer.
const maxQueued = 16 << 20

// Maximum numbers of bytes that wait for a subscriber. Outputs that may be dropped, see [Pub.Offer], are dropped beyond
// maxOffered. A reader of 0.3 MB/s needs more than three minutes for that amount, and a notebook of that size hardly
// opens. The reserve is for messages that must arrive, such as the end of a cell: a hundred thousand short messages.
const (
	maxOffered = 64 << 20
	reserve    = 64 << 20
)

var (
	errFull = errors.New("the peer does not read its messages")
	errGone = errors.New("there is no such peer")
)

// queue holds the messages for a peer in order. The queues of several subscribers share the bytes of a message.
type queue struct {
	most, reserve int // maximum number of bytes that wait, and how many more for messages that must arrive
	mu            sync.Mutex
	changed       *sync.Cond
	list          []item
	bytes         int // total bytes of the list
	closed        bool
	leavesOut     bool // offered messages are dropped until half of most has been read
	gap           *gap // the latest gap in the list that still counts
}

// item is a message, or the place of dropped messages.
type item struct {
	wire []byte
	gap  *gap
}

// gap counts the messages that were dropped in one place.
type gap struct {
	Instead
	left int
}

func newQueue(most, reserve int) *queue {
	q := &queue{most: most, reserve: reserve}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// push adds a message, and returns false if the queue is full or closed.
func (q *queue) push(wire []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.add(wire, q.most+q.reserve)
}

// add is like push. The caller holds the lock.
func (q *queue) add(wire []byte, most int) bool {
	if q.closed || q.bytes > 0 && q.bytes+len(wire) > most {
		return false
	}
	q.list = append(q.list, item{wire: wire})
	q.bytes += len(wire)
	q.changed.Broadcast()
	return true
}

// offer adds a message that may be dropped, or drops it if the previous one was dropped. It returns false if the queue
// is full or closed; then the caller may call leaveOut.
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

// leaveOut begins to drop offered messages, with this message.
func (q *queue) leaveOut(wire []byte, instead Instead) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.leavesOut = true
	q.count(len(wire), instead)
}

// count adds bytes to the latest gap if it has the same group, else it makes a new gap.
func (q *queue) count(n int, instead Instead) {
	if q.gap == nil || q.gap.Group != instead.Group {
		q.gap = &gap{Instead: instead}
		q.list = append(q.list, item{gap: q.gap})
		q.changed.Broadcast()
	}
	q.gap.left += n
}

// pop waits for the next message. last reports whether the queue is empty after it. ok is false at the end.
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

// drained waits until at most half of the maximum is left, and reports whether this happened before the deadline.
func (q *queue) drained(deadline time.Time) bool {
	wake := time.AfterFunc(time.Until(deadline), func() {
		q.mu.Lock() // not between the check of the clock and Wait
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

// close closes the queue: it accepts no further messages, and pop ends after the last one.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}
