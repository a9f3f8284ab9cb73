package zmtp

import (
	"context"
	"fmt"
	"net"
	"time"
)

// Client is a socket that has connected: a DEALER, or a SUB that has subscribed to all messages. It trusts the other
// side, which may send long messages. Send is safe for concurrent use. Receive may only be called by one goroutine at a
// time.
type Client struct{ peer *peer }

// Dealer connects a DEALER socket with an identity. It tries again until the endpoint accepts the connection or ctx
// ends. The connection ends with ctx.
func Dealer(ctx context.Context, endpoint, identity string) (*Client, error) {
	return dial(ctx, endpoint, dealerType, identity)
}

// Subscriber connects a SUB socket that receives all messages; see [Dealer].
func Subscriber(ctx context.Context, endpoint string) (*Client, error) {
	c, err := dial(ctx, endpoint, subType, "")
	if err != nil {
		return nil, err
	}
	all := commandWire(command(subscribeName, nil))
	if c.peer.minor == 0 {
		all = Message{{1}}.wire()
	}
	c.peer.out.push(all)
	return c, nil
}

// dialEvery is the time between two attempts to connect.
const dialEvery = 20 * time.Millisecond

func dial(ctx context.Context, endpoint, kind, identity string) (*Client, error) {
	network, address, err := split(endpoint)
	if err != nil {
		return nil, err
	}
	for {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		var p *peer
		if err == nil {
			p, err = connect(conn, kind, identity)
		}
		if err == nil {
			p.trusted.Store(true)
			context.AfterFunc(ctx, p.leave)
			return &Client{p}, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("no answer: %w", err)
		case <-time.After(dialEvery):
		}
	}
}

// Receive waits for a message. An error means that the connection has ended.
func (c *Client) Receive() (Message, error) {
	for {
		if m, err := c.peer.receive(func() int { return maxTrusted }, nil); m != nil || err != nil {
			return m, err
		}
	}
}

// Send sends a message. It waits while the other side has too much unread data.
func (c *Client) Send(m Message) error {
	wire := m.wire()
	if c.peer.out.push(wire) || c.peer.out.drained(time.Now().Add(stallLimit)) && c.peer.out.push(wire) {
		return nil
	}
	return errFull
}

// Close closes the connection after all messages have been sent, or after a second.
func (c *Client) Close() {
	late, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	c.peer.part(late)
}
