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

// maxPeers is how many connections a socket has. When one more comes, the oldest stranger leaves: a connection whose
// handshake is not done, or that is not trusted; see [Router.Trust]. A connection that leaves comes again if a sound
// ZeroMQ library made it.
const maxPeers = 128

// server is what the sockets that listen have in common.
type server struct {
	kind     string
	listener net.Listener
	welcome  func(*peer) error // a connection whose handshake is done; the server leaves it when this returns
	mu       sync.Mutex
	open     []*guest // by age
	closed   bool
}

// guest is a connection, before and after the handshake.
type guest struct {
	net  net.Conn
	peer *peer // nil before
}

func (g *guest) stranger() bool { return g.peer == nil || !g.peer.trusted.Load() }

// start begins to listen at tcp://HOST:PORT or ipc://PATH; a PORT of 0 is a free one.
func (s *server) start(endpoint string) (err error) {
	s.listener, err = listen(endpoint)
	if err == nil {
		go s.accept()
	}
	return err
}

// Addr is where the socket listens.
func (s *server) Addr() net.Addr { return s.listener.Addr() }

func (s *server) accept() {
	for {
		c, err := s.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // Too many open files: they may become fewer.
			time.Sleep(50 * time.Millisecond)
		default:
			if g := s.admit(c); g != nil {
				go s.serve(g)
			}
		}
	}
}

// admit takes a connection in, or closes it.
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

// lastWords is how long what was sent may take to leave when a socket closes.
const lastWords = time.Second

// Close ends the socket when what was sent has left, or a second is over.
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

// Router is a ROUTER socket: it receives from all its peers, and answers each by its identity. All methods may be
// called by many goroutines.
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

// NewRouter begins to listen at tcp://HOST:PORT or ipc://PATH. It stops at Close alone.
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

// takeOver is how long a new connection waits for one of the same identity to end: that of a peer that connects anew.
const takeOver = 2 * time.Second

// listenTo hands on what a peer sends.
func (r *Router) listenTo(p *peer) error {
	if p.identity == "" {
		p.identity = "\x00" + rand.Text()
	}
	for began := time.Now(); !r.register(p); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > takeOver {
			return fmt.Errorf("the identity %q is another's", p.identity)
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

// register makes a peer known by its identity. It does not take that of a trusted one; it takes that of a stranger, who
// has to leave.
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

// Receive waits for a message. Its first frame is the sender's identity. The error is net.ErrClosed, after Close.
func (r *Router) Receive() (Message, error) {
	select {
	case m := <-r.in:
		return m, nil
	case <-r.done.Done():
		return nil, net.ErrClosed
	}
}

// Send sends the frames after the first to the peer whose identity the first is. It does not wait: the error says that
// the peer is gone, or does not read and is left.
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

// Trust says that a peer has shown the kernel's key. It may send longer messages, and stays when others must leave.
func (r *Router) Trust(identity []byte) {
	if p := r.find(identity); p != nil {
		p.trusted.Store(true)
	}
}

// Close ends the socket.
func (r *Router) Close() error {
	err := r.server.Close()
	r.cancel()
	return err
}
