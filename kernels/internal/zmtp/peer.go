package zmtp

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"time"
)

// How long a peer may take: for the handshake, for a message that it has begun while it is a stranger, and until it has
// read some of what was sent. A subscriber may stand still: what waits for it is bounded.
const (
	handshakeLimit = 10 * time.Second
	messageLimit   = 30 * time.Second
	stallLimit     = 30 * time.Second
)

// peer is a connection.
type peer struct {
	net      net.Conn
	in       *bufio.Reader
	minor    byte // of the protocol's version
	identity string
	out      *queue
	stall    time.Duration // how long it may read nothing, 0 for ever
	trusted  atomic.Bool
	gone     chan struct{} // closed when nothing more is written
}

// connect shakes hands, as a socket of a kind. The connection is closed after an error.
func connect(c net.Conn, kind, identity string) (*peer, error) {
	p := &peer{net: c, in: bufio.NewReader(c), out: newQueue(maxQueued, 0), stall: stallLimit,
		gone: make(chan struct{})}
	if kind == pubType {
		p.out, p.stall = newQueue(maxOffered, reserve), 0
	}
	c.SetDeadline(time.Now().Add(handshakeLimit))
	if err := p.shake(kind, identity); err != nil {
		c.Close()
		return nil, err
	}
	c.SetDeadline(time.Time{})
	go p.write()
	return p, nil
}

func (p *peer) shake(kind, identity string) (err error) {
	if _, err := p.net.Write(greeting()); err != nil {
		return err
	}
	if p.minor, err = readGreeting(p.in); err != nil {
		return err
	}
	if _, err := p.net.Write(commandWire(ready(kind, identity))); err != nil {
		return err
	}
	f, err := readFrame(p.in, maxCommand)
	if err != nil {
		return err
	}
	if !f.command {
		return fmt.Errorf("%w: a message before READY", errProtocol)
	}
	theirs, who, err := readReady(f.body)
	if err != nil {
		return err
	}
	if p.identity = who; !slices.Contains(partners[kind], theirs) {
		return fmt.Errorf("a socket of type %.20q cannot speak to one of type %s", theirs, kind)
	}
	return nil
}

// receive reads the next message, of at most most() bytes, or a command, for which it returns none. Commands go to
// take, which may be nil; pings are answered here.
func (p *peer) receive(most func() int, take func(name string, data []byte) error) (m Message, err error) {
	if _, err := p.in.Peek(1); err != nil {
		return nil, err
	}
	if !p.trusted.Load() { // It may take its time to begin, but not to go on.
		p.net.SetReadDeadline(time.Now().Add(messageLimit))
		defer p.net.SetReadDeadline(time.Time{})
	}
	for limit := most(); ; {
		f, err := readFrame(p.in, limit)
		if err != nil {
			return nil, err
		}
		if f.command {
			if err := p.obey(f.body, take); err != nil || len(m) == 0 {
				return nil, err
			}
			continue
		}
		m, limit = append(m, f.body), limit-len(f.body)
		if !f.more {
			return m, nil
		}
		if len(m) == maxFrames {
			return nil, fmt.Errorf("a message of more than %d frames", maxFrames)
		}
	}
}

// obey carries out a command; unknown ones are passed over, as the protocol says.
func (p *peer) obey(body []byte, take func(name string, data []byte) error) error {
	name, data, err := readCommand(body)
	switch {
	case err != nil:
		return err
	case name == "PING" && len(data) >= 2: // two bytes of time, and what is to come back
		if !p.out.push(commandWire(command("PONG", data[2:]))) {
			return errFull
		}
	case take != nil:
		return take(name, data)
	}
	return nil
}

// write sends what is in the queue, until that is closed.
func (p *peer) write() {
	defer close(p.gone)
	defer p.leave()
	w := bufio.NewWriter(impatient{p.net, p.stall})
	for {
		wire, last, ok := p.out.pop()
		if !ok {
			return
		}
		_, err := w.Write(wire)
		if last && err == nil {
			err = w.Flush()
		}
		if err != nil {
			return
		}
	}
}

// impatient writes to a connection in pieces, each of which must be gone in time.
type impatient struct {
	net.Conn
	limit time.Duration // 0 for none
}

func (w impatient) Write(data []byte) (n int, err error) {
	const piece = 64 << 10
	for n < len(data) && err == nil {
		var k int
		if w.limit > 0 {
			w.SetWriteDeadline(time.Now().Add(w.limit))
		}
		k, err = w.Conn.Write(data[n:min(len(data), n+piece)])
		n += k
	}
	return n, err
}

// leave closes the connection.
func (p *peer) leave() {
	p.out.close()
	p.net.Close()
}

// part closes it when all has been sent, or ctx ends.
func (p *peer) part(ctx context.Context) {
	p.out.close()
	select {
	case <-p.gone:
	case <-ctx.Done():
		p.net.Close()
	}
}
