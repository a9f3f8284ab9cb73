package agent

import (
	"runtime"
	"testing"
	"time"
)

// By default the remembered decisions take at most 64 MiB, for any number of features. A given Pending is kept. The
// heap may be a tenth larger, because of the size classes of Go's allocator.
func TestPendingBytes(t *testing.T) {
	NotInShort(t)
	for want, c := range map[int]Config{65536: Config{}.Arms(3), 20092: Config{}.Contextual(10, 784),
		90_000: Config{Pending: 90_000}.Contextual(10, 784)} {
		if got := c.withDefaults().Pending; got != want {
			t.Errorf("Pending is %d, want %d", got, want)
		}
	}
	for _, features := range []int{1, 206, 785, 100_000} {
		p := pending{size: defaultPending(features)}
		x, before := make([]float32, features), heapBytes()
		for i := range p.size + p.size/2 {
			p.put(newWaiting(uint64(i), x, time.Now()))
		}
		if took := heapBytes() - before; took > pendingBytes*11/10 {
			t.Errorf("%d decisions of %d features take %d bytes, want about pendingBytes at most",
				p.size, features, took)
		}
		if len(p.all()) != p.size {
			t.Errorf("%d decisions, want %d", len(p.all()), p.size)
		}
	}
}

func heapBytes() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// A decision that is too late for its place does not wait, also if no other decision does.
func TestPutTooLate(t *testing.T) {
	zero := float32(0)
	p := pending{size: 1, reward: Reward{Wait: time.Hour, Default: &zero}}
	p.put(newWaiting(1, []float32{1}, time.Now()))
	p.change(1, func(w *waiting) { w.counted = true })
	p.queue = make(queue, 2*p.size+16)
	if p.put(newWaiting(0, []float32{1}, time.Now())) {
		t.Error("a decision that is not remembered is the next to be settled")
	}
}
