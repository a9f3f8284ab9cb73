// Package frontend communicates with the program that shows a notebook, through the kernel. It displays data, changes
// displayed data, and opens comms, the connections of widgets. The kernel passes the path of a socket to every command
// of a cell: its program, and the hyper command of `%hyper`. Messages are messages of Jupyter's protocol without
// their headers.
package frontend

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
)

// Var is the environment variable with the path of the kernel's socket.
const Var = "HYPERMODELS_FRONTEND"

// Message is a JSON object, on one line of the connection.
type Message struct {
	Type     string          `json:"type"` // a type of the protocol: display_data, comm_open, comm_msg, ...
	Content  json.RawMessage `json:"content,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Buffers  [][]byte        `json:"buffers,omitempty"`
	From     json.RawMessage `json:"from,omitempty"` // the header of a comm message of the page
	To       json.RawMessage `json:"to,omitempty"`   // From of the comm message that this message answers
}

// Sync is the type of a message that the kernel returns after it has passed on all earlier messages.
const Sync = "sync"

// LongestLine is the maximum length of a message in bytes, for both sides.
const LongestLine = 256 << 20

// ErrNone is the error of a program that no kernel has started.
var ErrNone = errors.New("there is no notebook: no kernel has started this program")

// Conn is a connection to the kernel. It is safe for concurrent use.
type Conn struct {
	mu     sync.Mutex // held while a message is written
	conn   net.Conn
	synced chan struct{}
	comms  sync.Map // *Comm by id
	heard  sync.Map // functions for the content of other messages, by type
	gone   chan struct{}
}

// Open connects to the kernel that has started this program. Without a kernel the error is [ErrNone].
func Open() (*Conn, error) {
	path := os.Getenv(Var)
	if path == "" {
		return nil, ErrNone
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		return nil, fmt.Errorf("the notebook's kernel does not listen: %w", err)
	}
	c := &Conn{conn: conn, synced: make(chan struct{}, 1), gone: make(chan struct{})}
	go c.listen()
	return c, nil
}

// Close waits until the kernel has passed on all messages, and closes the connection.
func (c *Conn) Close() error { return errors.Join(c.Settle(), c.conn.Close()) }

// Settle waits until the kernel has passed on all messages.
func (c *Conn) Settle() error {
	if err := c.Send(Message{Type: Sync}); err != nil {
		return err
	}
	select {
	case <-c.synced:
		return nil
	case <-c.gone:
		return io.ErrUnexpectedEOF
	}
}

// Hear registers a function that is called with the content of each message of a type from the kernel.
func (c *Conn) Hear(kind string, hear func(content json.RawMessage)) { c.heard.Store(kind, hear) }

// Gone returns a channel that is closed when the kernel has closed the connection.
func (c *Conn) Gone() <-chan struct{} { return c.gone }

// Send sends one message.
func (c *Conn) Send(m Message) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.conn.Write(append(text, '\n'))
	return err
}

// send sends content with a type of the protocol. to is the To of a message, or nil.
func (c *Conn) send(kind string, content, metadata any, to json.RawMessage) error {
	m := Message{Type: kind, To: to}
	var err error
	if m.Content, err = json.Marshal(content); err != nil {
		return err
	}
	if metadata != nil {
		m.Metadata, err = json.Marshal(metadata)
	}
	return errors.Join(err, c.Send(m))
}

// Display shows data in the output of the cell. The keys of data are MIME types. If id is not "", [Conn.Update] can
// change the output later.
func (c *Conn) Display(id string, data map[string]any) error { return c.show("display_data", id, data) }

// Update changes the outputs that were displayed with an id.
func (c *Conn) Update(id string, data map[string]any) error {
	return c.show("update_display_data", id, data)
}

func (c *Conn) show(kind, id string, data map[string]any) error {
	transient := map[string]any{}
	if id != "" {
		transient["display_id"] = id
	}
	return c.send(kind, map[string]any{"data": data, "metadata": map[string]any{}, "transient": transient}, nil, nil)
}

// listen handles the messages of the kernel.
func (c *Conn) listen() {
	defer close(c.gone)
	lines := bufio.NewScanner(c.conn)
	lines.Buffer(nil, LongestLine)
	for lines.Scan() {
		var m Message
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		if m.Type == Sync {
			select {
			case c.synced <- struct{}{}:
			default:
			}
			continue
		}
		if hear, ok := c.heard.Load(m.Type); ok {
			hear.(func(json.RawMessage))(m.Content)
			continue
		}
		var to struct {
			ID   string          `json:"comm_id"`
			Data json.RawMessage `json:"data"`
		}
		if json.Unmarshal(m.Content, &to) != nil {
			continue
		}
		if at, ok := c.comms.Load(to.ID); ok {
			comm := at.(*Comm)
			switch m.Type {
			case "comm_msg":
				comm.from = m.From
				comm.hear(to.Data)
			case "comm_close":
				c.comms.Delete(to.ID)
				comm.closed()
			}
		}
	}
}

// Comm is a connection to an object of the notebook's front end, such as a widget's model.
type Comm struct {
	ID     string
	conn   *Conn
	from   json.RawMessage // the header of the message that is heard
	hear   func(data json.RawMessage)
	closed func()
}

// Comm opens a connection. hear is called with the data of each message, one after the other, and must not wait for a
// message. closed is called when the front end closes the comm.
func (c *Conn) Comm(target string, data, metadata any, hear func(data json.RawMessage), closed func()) (*Comm, error) {
	comm := &Comm{ID: rand.Text(), conn: c, hear: hear, closed: closed}
	c.comms.Store(comm.ID, comm)
	return comm, c.send("comm_open", map[string]any{"comm_id": comm.ID, "target_name": target, "data": data}, metadata, nil)
}

// Send sends data to the front end.
func (c *Comm) Send(data any) error { return c.send(data, nil) }

// Answer sends data to the front end as the answer to the message that is heard: a page may ignore an answer without
// its question. Only the function that hears messages may call Answer.
func (c *Comm) Answer(data any) error { return c.send(data, c.from) }

func (c *Comm) send(data any, to json.RawMessage) error {
	return c.conn.send("comm_msg", map[string]any{"comm_id": c.ID, "data": data}, nil, to)
}

// Close closes the comm.
func (c *Comm) Close() error {
	c.conn.comms.Delete(c.ID)
	return c.conn.send("comm_close", map[string]any{"comm_id": c.ID, "data": map[string]any{}}, nil, nil)
}
