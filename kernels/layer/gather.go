package layer

import (
	"sync"
	"time"
)

// gathering joins text that a cell prints in quick succession. A page needs milliseconds for each message, however
// short: it would freeze for minutes after a million lines.
type gathering struct {
	mu   sync.Mutex
	pass func(message) // sends a message on
	held *message      // a stream message that waits for more text, or nil
	name string        // its stream
	text []byte        // its text
	sent time.Time     // when a stream message was sent last
}

const (
	gatherTime = 100 * time.Millisecond // shortest time between two messages of a stream
	gatherSize = 1 << 20                // bytes of text that do not wait
)

// send sends a message after all earlier ones.
func (g *gathering) send(m message) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var s struct{ Name, Text string }
	if m.head.Type != "stream" || m.read(&s) != nil {
		g.flush()
		g.pass(m)
		return
	}
	if g.held == nil || g.held.parent.ID != m.parent.ID || g.name != s.Name {
		g.flush()
		g.held, g.name = &m, s.Name
		time.AfterFunc(gatherTime-time.Since(g.sent), func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			if g.held == &m {
				g.flush()
			}
		})
	}
	if g.text = append(g.text, s.Text...); len(g.text) > gatherSize {
		g.flush()
	}
}

// release sends the text that waits, before a message that goes another way.
func (g *gathering) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flush()
}

// flush sends the text that waits. The caller holds the lock.
func (g *gathering) flush() {
	if g.held == nil {
		return
	}
	g.pass(g.held.with(map[string]string{"name": g.name, "text": string(g.text)}))
	g.held, g.text, g.sent = nil, nil, time.Now()
}
