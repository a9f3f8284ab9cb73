package layer

import (
	"fmt"

	"github.com/hypermodels/hypermodels/kernels/internal/zmtp"
)

// front is the client's side: the five sockets of its connection file.
type front struct {
	shell, control, stdin, iopub *channel
	routers                      []*zmtp.Router // shell, control, stdin and the heartbeat
	pub                          *zmtp.Pub
}

// channel is a socket whose messages are signed. Its send is safe for concurrent use.
type channel struct {
	key    signer
	socket interface{ Send(zmtp.Message) error }
	from   interface{ Receive() (zmtp.Message, error) } // nil for iopub
	valid  func(zmtp.Message)                           // called with each valid message; may be nil
	offer  func(message) error                          // sends a message that may be dropped; nil if none may
}

// bind opens the client's sockets. session is the sender of the first message to a client of outputs.
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
	f.iopub = &channel{key: key, socket: f.pub, offer: func(m message) error {
		return f.pub.Offer(key.encode(m), leftOut(m, key, session))
	}}
	return f, err
}

// trust tells the sockets that a client has proved that it has the key. A Jupyter client has one identity for all
// sockets.
func (f *front) trust(m zmtp.Message) {
	for _, r := range f.routers {
		r.Trust(m[0])
	}
}

// close closes the sockets after all messages have been sent.
func (f *front) close() {
	for _, r := range f.routers {
		r.Close()
	}
	if f.pub != nil {
		f.pub.Close()
	}
}

// beat returns every message of the client, which thereby sees that the kernel lives. The socket is a router: unlike a
// reply socket it has no strict order of request and reply, which a restarted client would break.
func beat(heart *zmtp.Router) {
	for {
		m, err := heart.Receive()
		if err != nil {
			return
		}
		heart.Send(m)
	}
}

func (c *channel) send(m message) error {
	if c.offer != nil && isOutput[m.head.Type] {
		return c.offer(m)
	}
	return c.socket.Send(c.key.encode(m))
}

// isOutput lists the messages that may be dropped if a client reads slowly. All other messages are delivered: a page
// waits for "idle".
var isOutput = map[string]bool{"stream": true, "display_data": true, "update_display_data": true,
	"clear_output": true}

// leftOut makes the message that replaces dropped outputs; m is the first of them. It has the number of bytes.
// Consecutive dropped outputs of one cell are counted together.
func leftOut(m message, key signer, session string) zmtp.Instead {
	request := message{rawHead: m.rawUp, head: m.parent}
	return zmtp.Instead{Group: m.parent.ID, Message: func(bytes int) zmtp.Message {
		text := fmt.Sprintf("\n[%.1f MB of output left out: the cell writes more quickly than this client reads]\n",
			float64(bytes)/1e6)
		line := request.answer(session, "stream", map[string]string{"name": "stderr", "text": text})
		line.route = [][]byte{[]byte("stream")}
		return key.encode(line)
	}}
}

// listen passes on every valid message until the socket closes. It drops invalid messages without an answer, because an
// answer would show a stranger that there is a kernel.
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
