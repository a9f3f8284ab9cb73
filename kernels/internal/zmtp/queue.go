package zmtp

import (
	"errors"
	"sync"
	"time"
)

// maxQueued is how many bytes may wait for a peer that reads more slowly than it is sent to. A single message may be
// longer.
const maxQueued = 16 << 20

var (
	errFull = errors.New("the peer does not read what it is sent")
	errGone = errors.New("there is no such peer")
)

// queue holds what is to be sent to a peer. It is in the order of push.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	list    [][]byte
	bytes   int // of the list
	closed  bool
}

func newQueue() *queue {
	q := new(queue)
	q.changed = sync.NewCond(&q.mu)
	return q
}

// push adds to the queue, unless it is full or closed.
func (q *queue) push(wire []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.bytes > 0 && q.bytes+len(wire) > maxQueued {
		return false
	}
	q.list = append(q.list, wire)
	q.bytes += len(wire)
	q.changed.Broadcast()
	return true
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
	wire = q.list[0]
	q.list[0] = nil
	q.list = q.list[1:]
	q.bytes -= len(wire)
	q.changed.Broadcast()
	return wire, len(q.list) == 0, true
}

// drained waits until no more than half of maxQueued is left, and tells whether that was so before the deadline.
func (q *queue) drained(deadline time.Time) bool {
	wake := time.AfterFunc(time.Until(deadline), func() {
		q.mu.Lock() // not between a look at the clock and Wait
		defer q.mu.Unlock()
		q.changed.Broadcast()
	})
	defer wake.Stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && q.bytes > maxQueued/2 && time.Now().Before(deadline) {
		q.changed.Wait()
	}
	return !q.closed && q.bytes <= maxQueued/2
}

// close ends the queue: nothing more is taken, and pop ends when all has been sent.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
}
