package layer

import (
	"context"
	"fmt"
	"io"
	"log"
	"sync"

	"github.com/go-zeromq/zmq4"
)

// front is the client's side: the five sockets of its connection file.
type front struct {
	key                                   signer
	shell, control, stdin, iopub, beating *channel
}

// channel is a socket that any goroutine may send on.
type channel struct {
	zmq4.Socket
	mu  sync.Mutex
	key signer
}

// bind makes the client's sockets listen.
func bind(ctx context.Context, c connection) (*front, error) {
	f := &front{key: signer(c.Key)}
	for _, s := range []struct {
		at   **channel
		kind func(context.Context, ...zmq4.Option) zmq4.Socket
		port int
	}{
		{&f.shell, zmq4.NewRouter, c.Shell},
		{&f.control, zmq4.NewRouter, c.Control},
		{&f.stdin, zmq4.NewRouter, c.Stdin},
		{&f.iopub, zmq4.NewPub, c.IOPub},
		{&f.beating, zmq4.NewRouter, c.Heartbeat},
	} {
		*s.at = &channel{Socket: s.kind(ctx, quiet), key: f.key}
		if err := (*s.at).Listen(c.address(s.port)); err != nil {
			return nil, fmt.Errorf("cannot listen for the Jupyter client: %w", err)
		}
	}
	go f.beat(ctx)
	return f, nil
}

// quiet keeps the library from writing into the terminal of Jupyter.
var quiet = zmq4.WithLogger(log.New(io.Discard, "", 0))

// beat returns whatever the client sends to see whether the kernel lives. A router needs not keep the strict order of
// request and reply, which a client that was restarted would upset.
func (f *front) beat(ctx context.Context) {
	for ctx.Err() == nil {
		if m, err := f.beating.Recv(); err == nil && len(m.Frames) > 0 {
			f.beating.SendMulti(m)
		}
	}
}

func (c *channel) send(m message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.SendMulti(zmq4.NewMsgFrom(c.key.encode(m)...))
}

// listen hands on every valid message until the socket closes. Others are dropped: answering them would tell a stranger
// that there is a kernel.
func (c *channel) listen(ctx context.Context, take func(message)) {
	for ctx.Err() == nil {
		raw, err := c.Recv()
		if err != nil {
			continue
		}
		if m, err := c.key.decode(raw.Frames); err == nil {
			take(m)
		}
	}
}
