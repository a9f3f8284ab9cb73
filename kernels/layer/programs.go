package layer

import (
	"bufio"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
	"github.com/hypermodels/hypermodels/kernels/layer/wrapper"
)

// programs holds the connections of programs that cells have started. Package frontend is the programs' side.
type programs struct {
	mu    sync.Mutex
	comms map[string]*connected // by id of the comm, the program that has opened it
	live  map[*connected]bool
	asks  *connected // the program that waits for a line of input, or nil
}

// connected is a program that has connected. Its outputs belong to the request that was being executed when it
// connected.
type connected struct {
	conn    net.Conn
	mu      sync.Mutex // held while a message is written
	request message
}

// replaces ends the programs of an earlier execution of a cell when the cell is executed again.
func (p *programs) replaces(m message) {
	cell := cellOf(m)
	if cell == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for one := range p.live {
		if cellOf(one.request) == cell && one.request.head.ID != m.head.ID {
			one.conn.Close()
		}
	}
}

// cellOf returns the client's id of a request's cell, or "".
func cellOf(m message) string {
	var metadata struct {
		Cell string `json:"cellId"`
	}
	_ = json.Unmarshal(m.metadata, &metadata)
	return metadata.Cell
}

// programSocket returns the socket to which programs connect. It is in a folder that only the user can read.
func programSocket(dir string) string { return filepath.Join(dir, "f") }

// serve accepts connections until the listener closes.
func (p *programs) serve(l net.Listener, k *kernel) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		} else if err != nil { // such as too many open files
			time.Sleep(50 * time.Millisecond)
			continue
		}
		one := &connected{conn: conn}
		k.mu.Lock()
		if k.current != nil {
			one.request = k.current.request
		}
		k.mu.Unlock()
		p.mu.Lock()
		if p.live == nil {
			p.live = map[*connected]bool{}
		}
		p.live[one] = true
		p.mu.Unlock()
		go p.listen(one, k)
	}
}

// listen passes on the messages of a program until the program ends. Then it closes the program's comms.
func (p *programs) listen(one *connected, k *kernel) {
	defer p.ended(one, k)
	lines := bufio.NewScanner(one.conn)
	lines.Buffer(nil, frontend.LongestLine)
	for lines.Scan() {
		var m frontend.Message
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			return
		}
		switch m.Type {
		case frontend.Sync:
			one.send(m)
			continue
		case wrapper.InputRequest:
			p.ask(one, k, m)
			continue
		case "comm_open", "comm_msg", "comm_close":
			p.follow(one, m)
		case "display_data", "update_display_data", "clear_output":
		default:
			continue // A program may send no other messages.
		}
		request := one.request
		if head := (header{}); m.To != nil && json.Unmarshal(m.To, &head) == nil {
			request = message{head: head, rawHead: m.To} // A page that is loaded again waits for answers to its own messages.
		}
		out := request.answer(k.session, m.Type, m.Content)
		if m.Metadata != nil {
			out.metadata = m.Metadata
		}
		out.buffers = m.Buffers
		k.comms.note(out)
		k.tell(out)
	}
}

// ask asks the user for a line, if the client answers questions.
func (p *programs) ask(one *connected, k *kernel, m frontend.Message) {
	k.mu.Lock()
	x := k.current
	k.mu.Unlock()
	if x == nil || x.mute || x.request.head.ID != one.request.head.ID {
		one.send(frontend.Message{Type: wrapper.InputReply, Content: mustJSON(wrapper.InputAnswer{End: true})})
		return
	}
	x.mu.Lock()
	asked := x.asked
	x.mu.Unlock()
	if asked {
		one.send(frontend.Message{Type: wrapper.InputReply, Content: mustJSON(wrapper.InputAnswer{Wait: true})})
		return
	}
	p.mu.Lock()
	p.asks = one
	p.mu.Unlock()
	k.gathering.release()
	k.front.stdin.send(one.request.answer(k.session, "input_request", m.Content))
}

// asked returns the program that waits for a line, or nil. After the call no program waits.
func (p *programs) asked() *connected {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.asks
	p.asks = nil
	return one
}

// tell sends the user's answer to a program.
func (one *connected) tell(m message) {
	var a wrapper.InputAnswer
	if m.read(&a) != nil {
		a.End = true
	}
	one.send(frontend.Message{Type: wrapper.InputReply, Content: mustJSON(a)})
}

// follow stores which program has opened which comm.
func (p *programs) follow(one *connected, m frontend.Message) {
	var body struct {
		ID string `json:"comm_id"`
	}
	if json.Unmarshal(m.Content, &body) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch m.Type {
	case "comm_open":
		if p.comms == nil {
			p.comms = map[string]*connected{}
		}
		p.comms[body.ID] = one
	case "comm_close":
		delete(p.comms, body.ID)
	}
}

// owner returns the program that owns the comm of a client's message, or nil.
func (p *programs) owner(m message) *connected {
	var body struct {
		ID string `json:"comm_id"`
	}
	if m.read(&body) != nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.comms[body.ID]
	if one != nil && m.head.Type == "comm_close" {
		delete(p.comms, body.ID)
	}
	return one
}

// take sends a client's comm message to a program.
func (one *connected) take(m message) {
	one.send(frontend.Message{Type: m.head.Type, Content: m.content, Metadata: m.metadata, Buffers: m.buffers,
		From: m.rawHead})
}

// hearLimit is the maximum time for writing a message to a program. A stopped program must not block the kernel.
const hearLimit = 5 * time.Second

func (one *connected) send(m frontend.Message) {
	one.mu.Lock()
	defer one.mu.Unlock()
	_ = one.conn.SetWriteDeadline(time.Now().Add(hearLimit))
	if _, err := one.conn.Write(append(mustJSON(m), '\n')); err != nil {
		one.conn.Close()
	}
}

// ended closes a program's connection and the comms that the program has left open.
func (p *programs) ended(one *connected, k *kernel) {
	one.conn.Close()
	p.mu.Lock()
	if p.asks == one {
		p.asks = nil
	}
	delete(p.live, one)
	var left []string
	for id, owner := range p.comms {
		if owner == one {
			left = append(left, id)
			delete(p.comms, id)
		}
	}
	p.mu.Unlock()
	for _, id := range left {
		out := one.request.answer(k.session, "comm_close", map[string]any{"comm_id": id, "data": struct{}{}})
		k.comms.note(out)
		k.tell(out)
	}
}
