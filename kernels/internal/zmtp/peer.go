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

// Time limits of a peer: for the handshake, for the rest of a message of a peer that is not trusted, and until it has
// read some of the data for it. A subscriber may stop reading, because the data that wait for it are limited.
const (
	handshakeLimit = 10 * time.Second
	messageLimit   = 30 * time.Second
	stallLimit     = 30 * time.Second
)

// peer is a connection with its state.
type peer struct {
	net      net.Conn
	in       *bufio.Reader
	minor    byte // of the protocol's version
	identity string
	out      *queue
	stall    time.Duration // maximum time without reading; 0 is no limit
	trusted  atomic.Bool
	gone     chan struct{} // closed when nothing more is written
}

// connect performs the handshake as a socket of a kind. After an error the connection is closed.
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
		return fmt.Errorf("a socket of type %.20q cannot connect to a socket of type %s", theirs, kind)
	}
	return nil
}

// receive reads the next message, of at most most() bytes. If it reads a command, it passes the command to take, which
// may be nil, and returns no message. It answers pings itself.
func (p *peer) receive(most func() int, take func(name string, data []byte) error) (m Message, err error) {
	if _, err := p.in.Peek(1); err != nil {
		return nil, err
	}
	if !p.trusted.Load() { // It may wait before a message, but not within one.
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

// obey carries out a command. It ignores unknown commands, as the protocol requires.
func (p *peer) obey(body []byte, take func(name string, data []byte) error) error {
	name, data, err := readCommand(body)
	switch {
	case err != nil:
		return err
	case name == "PING" && len(data) >= 2: // two bytes of time, then the data to return
		if !p.out.push(commandWire(command("PONG", data[2:]))) {
			return errFull
		}
	case take != nil:
		return take(name, data)
	}
	return nil
}

// write sends the messages of the queue until the queue is closed.
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

// impatient writes to a connection in pieces. Each piece must be written within the limit.
type impatient struct {
	net.Conn
	limit time.Duration // 0 is no limit
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

// part closes the connection after all messages have been sent, or when ctx ends.
func (p *peer) part(ctx context.Context) {
	p.out.close()
	select {
	case <-p.gone:
	case <-ctx.Done():
		p.net.Close()
	}
}
