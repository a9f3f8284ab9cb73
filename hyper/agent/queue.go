package agent

import (
	"container/heap"
	"time"
)

// queue is a heap of the decisions that are settled by time, ordered by the begin of their wait. It may also contain
// decisions that need not be settled any more.
type queue []waitSince

// waitSince is a decision with the time at which its wait began.
type waitSince struct {
	since  time.Time
	number uint64
}

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].since.Before(q[j].since) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// Push and Pop implement heap.Interface.
func (q *queue) Push(x any) { *q = append(*q, x.(waitSince)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

// since returns the time at which the wait of a decision begins.
func (w *waiting) since() time.Time {
	if w.Shown != 0 {
		return time.Unix(0, w.Shown)
	}
	return w.made
}

// settlement returns the reward that the agent learns for a decision when its wait is over; ok is false if it learns
// nothing.
func (p *pending) settlement(w *waiting) (y, weight float32, ok bool) {
	switch {
	case w.counted || w.Hidden:
		return 0, 0, false
	case w.Rewarded:
		return w.Reward, w.Weight, true
	case p.reward.Default != nil:
		return *p.reward.Default, 1, true
	}
	return 0, 0, false
}

// wait adds a decision to the queue, if it has a settlement. It returns true if the decision is now at the top.
func (p *pending) wait(w *waiting) (first bool) {
	if _, _, ok := p.settlement(w); !ok {
		return false
	}
	if len(p.queue) >= 2*p.size+16 { // most of them have been settled, or forgotten
		p.queue = p.queue[:0]
		for i := range p.ring {
			if _, _, ok := p.settlement(&p.ring[i]); ok && p.ring[i].x != nil {
				p.queue = append(p.queue, waitSince{p.ring[i].since(), p.ring[i].number})
			}
		}
		heap.Init(&p.queue)
	} else {
		heap.Push(&p.queue, waitSince{w.since(), w.number})
	}
	return len(p.queue) > 0 && p.queue[0].number == w.number
}

// top returns the decision whose wait ends first, and the end of its wait; ok is false if no decision waits.
func (p *pending) top() (w waiting, end time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 {
		w, err := p.find(p.queue[0].number)
		if err == nil && w.since().Equal(p.queue[0].since) {
			if _, _, ok := p.settlement(w); ok {
				return *w, w.since().Add(p.reward.Wait), true
			}
		}
		heap.Pop(&p.queue)
	}
	return waiting{}, time.Time{}, false
}

// leaving returns the decision whose place in the ring the decision number takes; ok is true if it must be settled
// before.
func (p *pending) leaving(number uint64) (w waiting, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	place := int(number % uint64(p.size))
	if place >= len(p.ring) || p.ring[place].x == nil || p.ring[place].number >= number {
		return waiting{}, false
	}
	_, _, ok = p.settlement(&p.ring[place])
	return p.ring[place], ok
}
