package zmtp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// maxPeers is the maximum number of connections of a socket. If another one comes, the oldest connection that is not
// trusted is closed: its handshake is not done, or its peer has not shown the key; see [Router.Trust]. Every working
// ZeroMQ library connects again.
const maxPeers = 128

// server is the common part of the sockets that listen.
type server struct {
	kind     string
	listener net.Listener
	welcome  func(*peer) error // serves a connection after the handshake; the server closes it when this returns
	mu       sync.Mutex
	open     []*guest // from old to new
	closed   bool
}

// guest is a connection, before and after the handshake.
type guest struct {
	net  net.Conn
	peer *peer // nil before the handshake
}

func (g *guest) stranger() bool { return g.peer == nil || !g.peer.trusted.Load() }

// start begins to listen at tcp://HOST:PORT or ipc://PATH. PORT 0 is a free port.
func (s *server) start(endpoint string) (err error) {
	s.listener, err = listen(endpoint)
	if err == nil {
		go s.accept()
	}
	return err
}

// Addr returns the address where the socket listens.
func (s *server) Addr() net.Addr { return s.listener.Addr() }

func (s *server) accept() {
	for {
		c, err := s.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // Perhaps too many files are open; some may close.
			time.Sleep(50 * time.Millisecond)
		default:
			if g := s.admit(c); g != nil {
				go s.serve(g)
			}
		}
	}
}

// admit accepts a connection, or closes it and returns nil.
func (s *server) admit(c net.Conn) *guest {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= maxPeers {
		if i := slices.IndexFunc(s.open, (*guest).stranger); i >= 0 {
			s.open[i].net.Close()
			s.open = slices.Delete(s.open, i, i+1)
		}
	}
	if s.closed || len(s.open) >= maxPeers {
		c.Close()
		return nil
	}
	g := &guest{net: c}
	s.open = append(s.open, g)
	return g
}

func (s *server) serve(g *guest) {
	defer func() {
		g.net.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open = slices.DeleteFunc(s.open, func(o *guest) bool { return o == g })
	}()
	p, err := connect(g.net, s.kind, "")
	if err != nil {
		return
	}
	defer p.leave()
	s.mu.Lock()
	g.peer = p
	closed := s.closed
	s.mu.Unlock()
	if !closed {
		s.welcome(p)
	}
}

// lastWords is the maximum time for sending the remaining messages when a socket closes.
const lastWords = time.Second

// Close closes the socket after all messages have been sent, or after a second.
func (s *server) Close() error {
	s.mu.Lock()
	s.closed = true
	open := slices.Clone(s.open)
	s.mu.Unlock()
	err := s.listener.Close()
	late, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	for _, g := range open {
		if g.peer == nil {
			g.net.Close()
		} else {
			g.peer.part(late)
		}
	}
	return err
}

// Router is a ROUTER socket: it receives messages from all its peers, and answers each by its identity. It is safe for
// concurrent use.
type Router struct {
	server
	in     chan Message
	done   context.Context
	cancel context.CancelFunc
	by     struct {
		sync.Mutex
		identity map[string]*peer
	}
}

// NewRouter opens a socket that listens at tcp://HOST:PORT or ipc://PATH. Only Close ends it.
func NewRouter(endpoint string) (*Router, error) {
	r := &Router{in: make(chan Message)}
	r.by.identity = map[string]*peer{}
	r.done, r.cancel = context.WithCancel(context.Background())
	r.kind, r.welcome = routerType, r.listenTo
	if err := r.start(endpoint); err != nil {
		r.cancel()
		return nil, err
	}
	return r, nil
}

// takeOver is the time that a new connection waits for an older one with the same identity to end, for a peer that
// connects again.
const takeOver = 2 * time.Second

// listenTo passes on the messages of a peer.
func (r *Router) listenTo(p *peer) error {
	if p.identity == "" {
		p.identity = "\x00" + rand.Text()
	}
	for began := time.Now(); !r.register(p); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > takeOver {
			return fmt.Errorf("the identity %q belongs to another peer", p.identity)
		}
	}
	defer r.forget(p)
	most := func() int {
		if p.trusted.Load() {
			return maxTrusted
		}
		return maxStranger
	}
	for {
		m, err := p.receive(most, nil)
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		select {
		case r.in <- append(Message{[]byte(p.identity)}, m...):
		case <-r.done.Done():
			return net.ErrClosed
		}
	}
}

// register stores a peer by its identity, and reports whether it did. If a trusted peer has the identity, it does not.
// If a stranger has it, the stranger is disconnected.
func (r *Router) register(p *peer) bool {
	r.by.Lock()
	defer r.by.Unlock()
	if other := r.by.identity[p.identity]; other != nil {
		if other.trusted.Load() {
			return false
		}
		other.net.Close()
	}
	r.by.identity[p.identity] = p
	return true
}

func (r *Router) forget(p *peer) {
	r.by.Lock()
	defer r.by.Unlock()
	if r.by.identity[p.identity] == p {
		delete(r.by.identity, p.identity)
	}
}

func (r *Router) find(identity []byte) *peer {
	r.by.Lock()
	defer r.by.Unlock()
	return r.by.identity[string(identity)]
}

// Receive waits for a message. The first frame is the sender's identity. After Close the error is net.ErrClosed.
func (r *Router) Receive() (Message, error) {
	select {
	case m := <-r.in:
		return m, nil
	case <-r.done.Done():
		return nil, net.ErrClosed
	}
}

// Send sends all frames after the first to the peer with the identity in the first frame. It does not wait. An error
// means that the peer is gone, or does not read and has been disconnected.
func (r *Router) Send(m Message) error {
	p := r.find(m[0])
	if p == nil {
		return errGone
	}
	if !p.out.push(m[1:].wire()) {
		p.leave()
		return errFull
	}
	return nil
}

// Trust marks a peer as one that has shown the kernel's key. The peer may send longer messages, and stays when others
// are disconnected.
func (r *Router) Trust(identity []byte) {
	if p := r.find(identity); p != nil {
		p.trusted.Store(true)
	}
}

// Close closes the socket.
func (r *Router) Close() error {
	err := r.server.Close()
	r.cancel()
	return err
}
