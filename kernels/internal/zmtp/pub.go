package zmtp

import (
	"bytes"
	"fmt"
	"sync"
	"time"
)

// Pub is a PUB socket: it sends to all that have subscribed. All methods may be called by many goroutines.
type Pub struct {
	server
	first  func(topic []byte) Message
	mu     sync.Mutex // keeps the order of messages the same for all
	topics map[*peer]*topics
}

// topics are a peer's subscriptions.
type topics struct {
	sync.Mutex
	list [][]byte
}

// maxTopics is how many a peer may have, of maxTopic bytes each.
const (
	maxTopics = 64
	maxTopic  = 1 << 10
)

// patience is how long the first message that finds a subscriber's queue full waits for half of it to be read. So who
// reads seven megabytes in a second loses nothing, and others wait for a slower one once, not for each message.
const patience = 5 * time.Second

// Instead says what a subscriber gets in place of messages that were left out.
type Instead struct {
	Group   string                  // those that follow one another and are of one group are counted together
	Message func(bytes int) Message // makes the message that says how many bytes were left out
}

// NewPub begins to listen, see [NewRouter]. first, which may be nil, makes the message that a peer gets, before any
// other, for a subscription.
func NewPub(endpoint string, first func(topic []byte) Message) (*Pub, error) {
	p := &Pub{first: first, topics: map[*peer]*topics{}}
	p.kind, p.welcome = pubType, p.listenTo
	if err := p.start(endpoint); err != nil {
		return nil, err
	}
	return p, nil
}

// listenTo follows a peer's subscriptions. A peer with one is trusted not to be in the way: Jupyter's protocol lets a
// client of outputs alone show no key.
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

// change carries out a SUBSCRIBE or CANCEL.
func (s *Pub) change(p *peer, mine *topics, name string, topic []byte) error {
	mine.Lock()
	defer mine.Unlock()
	switch {
	case len(topic) > maxTopic:
		return fmt.Errorf("a topic of %d bytes, where %d are allowed", len(topic), maxTopic)
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

// wants tells whether a message with a topic is for the peer.
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

// Send sends a message, whose first frame is its topic, to all that have subscribed to it. It comes also to one that
// reads slowly; one for which more waits than maxOffered and the reserve is left. The error is always nil.
func (s *Pub) Send(m Message) error {
	wire := m.wire()
	s.each(m[0], func(q *queue) bool { return q.push(wire) }, (*peer).leave)
	return nil
}

// Offer is Send for what may be left out: for a subscriber that reads slowly, messages for which maxOffered has no room
// are, until half of that has been read. Where they would have been stands one that tells of them. The error is always
// nil.
func (s *Pub) Offer(m Message, instead Instead) error {
	wire := m.wire()
	s.each(m[0], func(q *queue) bool { return q.offer(wire, instead) }, func(p *peer) { p.out.leaveOut(wire, instead) })
	return nil
}

// each puts a message of a topic into the queues of its subscribers. Those whose queues have no room may take a while
// to read, all of them together; behind is told of those that are too slow.
func (s *Pub) each(topic []byte, put func(*queue) bool, behind func(*peer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var full []*peer
	for p, topics := range s.topics {
		if topics.wants(topic) && !put(p.out) {
			full = append(full, p)
		}
	}
	deadline := time.Now().Add(patience)
	for _, p := range full {
		if !p.out.drained(deadline) || !put(p.out) {
			behind(p)
		}
	}
}
