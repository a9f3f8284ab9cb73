package layer

import (
	"fmt"

	"github.com/hypermodels/hypermodels/kernels/internal/zmtp"
)

// front is the client's side: the five sockets of its connection file.
type front struct {
	shell, control, stdin, iopub *channel
	routers                      []*zmtp.Router // those of shell, control and stdin, and the one that beats
	pub                          *zmtp.Pub
}

// channel is a socket whose messages are signed. Any goroutine may send on it.
type channel struct {
	key    signer
	socket interface{ Send(zmtp.Message) error }
	from   interface{ Receive() (zmtp.Message, error) } // nil for iopub
	valid  func(zmtp.Message)                           // told of each valid message, may be nil
}

// bind makes the client's sockets listen. session names the kernel in what it sends first to a client of outputs.
func bind(c connection, session string) (f *front, err error) {
	f = new(front)
	defer func() {
		if err != nil {
			f.close()
			err = fmt.Errorf("cannot listen for the Jupyter client: %w", err)
		}
	}()
	for _, s := range []struct {
		at   **channel
		port int
	}{{&f.shell, c.Shell}, {&f.control, c.Control}, {&f.stdin, c.Stdin}} {
		r, err := zmtp.NewRouter(c.address(s.port))
		if err != nil {
			return f, err
		}
		f.routers = append(f.routers, r)
		*s.at = &channel{key: signer(c.Key), socket: r, from: r, valid: f.trust}
	}
	heart, err := zmtp.NewRouter(c.address(c.Heartbeat))
	if err != nil {
		return f, err
	}
	go beat(heart)
	key := signer(c.Key)
	f.pub, err = zmtp.NewPub(c.address(c.IOPub), func(topic []byte) zmtp.Message {
		m := message{}.answer(session, "iopub_welcome", map[string]string{"subscription": string(topic)})
		m.route = [][]byte{[]byte("iopub_welcome")}
		return key.encode(m)
	})
	f.routers = append(f.routers, heart)
	f.iopub = &channel{key: key, socket: f.pub}
	return f, err
}

// trust tells the sockets that a client has shown the key. A Jupyter client has one identity for all of them.
func (f *front) trust(m zmtp.Message) {
	for _, r := range f.routers {
		r.Trust(m[0])
	}
}

// close closes the sockets when what was sent has left.
func (f *front) close() {
	for _, r := range f.routers {
		r.Close()
	}
	if f.pub != nil {
		f.pub.Close()
	}
}

// beat returns whatever the client sends to see whether the kernel lives. A router needs not keep the strict order of
// request and reply, which a client that was restarted would upset.
func beat(heart *zmtp.Router) {
	for {
		m, err := heart.Receive()
		if err != nil {
			return
		}
		heart.Send(m)
	}
}

func (c *channel) send(m message) error { return c.socket.Send(c.key.encode(m)) }

// listen hands on every valid message until the socket closes. Others are dropped: answering them would tell a stranger
// that there is a kernel.
func (c *channel) listen(take func(message)) {
	for {
		raw, err := c.from.Receive()
		if err != nil {
			return
		}
		if m, err := c.key.decode(raw); err == nil {
			if c.valid != nil {
				c.valid(raw)
			}
			take(m)
		}
	}
}
