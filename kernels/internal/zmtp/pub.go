package zmtp

import (
	"bytes"
	"fmt"
	"sync"
	"time"
)

// Pub is a PUB socket: it sends messages to all subscribers. It is safe for concurrent use.
type Pub struct {
	server
	first  func(topic []byte) Message
	mu     sync.Mutex // gives all subscribers the messages in the same order
	topics map[*peer]*topics

	patience time.Duration // see patience; tests shorten it
}

// topics holds a peer's subscriptions.
type topics struct {
	sync.Mutex
	list [][]byte
}

// Maximum number of subscriptions of a peer, and maximum length of a topic in bytes.
const (
	maxTopics = 64
	maxTopic  = 1 << 10
)

// patience is the maximum time that the first message for a full queue waits until half of the queue has been read. A
// subscriber that reads seven megabytes per second loses nothing. Others wait for a slower subscriber only once, not
// for each message.
const patience = 5 * time.Second

// Instead describes the message that replaces dropped messages.
type Instead struct {
	Group   string                  // consecutive dropped messages of one group are counted together
	Message func(bytes int) Message // makes the message from the number of dropped bytes
}

// NewPub opens a socket, see [NewRouter]. first makes the first message that a peer receives for a subscription; it may
// be nil.
func NewPub(endpoint string, first func(topic []byte) Message) (*Pub, error) {
	p := &Pub{first: first, topics: map[*peer]*topics{}, patience: patience}
	p.kind, p.welcome = pubType, p.listenTo
	if err := p.start(endpoint); err != nil {
		return nil, err
	}
	return p, nil
}

// listenTo reads a peer's subscriptions. A peer with a subscription is trusted, because Jupyter's protocol allows a
// client that only receives outputs to show no key.
func (s *Pub) listenTo(p *peer) error {
	mine := new(topics)
	s.mu.Lock()
	s.topics[p] = mine
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.topics, p)
	}()
	change := func(name string, topic []byte) error { return s.change(p, mine, name, topic) }
	for {
		m, err := p.receive(func() int { return maxCommand }, change)
		if err != nil {
			return err
		}
		if len(m) == 1 && len(m[0]) > 0 && m[0][0] <= 1 { // the form of ZMTP 3.0
			name := map[byte]string{0: cancelName, 1: subscribeName}[m[0][0]]
			if err := change(name, m[0][1:]); err != nil {
				return err
			}
		}
	}
}

const (
	subscribeName = "SUBSCRIBE"
	cancelName    = "CANCEL"
)

// change carries out a SUBSCRIBE or CANCEL command.
func (s *Pub) change(p *peer, mine *topics, name string, topic []byte) error {
	mine.Lock()
	defer mine.Unlock()
	switch {
	case len(topic) > maxTopic:
		return fmt.Errorf("a topic of %d bytes, at most %d are allowed", len(topic), maxTopic)
	case name == cancelName:
		for i, t := range mine.list {
			if bytes.Equal(t, topic) {
				mine.list = append(mine.list[:i:i], mine.list[i+1:]...)
				break
			}
		}
	case name == subscribeName && len(mine.list) == maxTopics:
		return fmt.Errorf("more than %d subscriptions", maxTopics)
	case name == subscribeName:
		p.trusted.Store(true)
		if s.first != nil && !p.out.push(s.first(topic).wire()) {
			return errFull
		}
		mine.list = append(mine.list, topic)
	}
	return nil
}

// wants reports whether the peer has subscribed to a topic.
func (t *topics) wants(topic []byte) bool {
	t.Lock()
	defer t.Unlock()
	for _, own := range t.list {
		if bytes.HasPrefix(topic, own) {
			return true
		}
	}
	return false
}

// Send sends a message to all subscribers of its topic, the first frame. A slow subscriber also receives it; if more
// than maxOffered and the reserve wait for a subscriber, the socket disconnects it. The error is always nil.
func (s *Pub) Send(m Message) error {
	wire := m.wire()
	s.each(m[0], func(q *queue) bool { return q.push(wire) }, (*peer).leave)
	return nil
}

// Offer is like Send, for messages that may be dropped. If more than maxOffered waits for a slow subscriber, messages
// for it are dropped until it has read half of that. A single message replaces the dropped ones. The error is always
// nil.
func (s *Pub) Offer(m Message, instead Instead) error {
	wire := m.wire()
	s.each(m[0], func(q *queue) bool { return q.offer(wire, instead) }, func(p *peer) { p.out.leaveOut(wire, instead) })
	return nil
}

// each puts a message into the queues of its topic's subscribers. Subscribers with full queues get some time to read,
// all at the same time; behind is called for those that are too slow.
func (s *Pub) each(topic []byte, put func(*queue) bool, behind func(*peer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var full []*peer
	for p, topics := range s.topics {
		if topics.wants(topic) && !put(p.out) {
			full = append(full, p)
		}
	}
	deadline := time.Now().Add(s.patience)
	for _, p := range full {
		if !p.out.drained(deadline) || !put(p.out) {
			behind(p)
		}
	}
}
