package layer

import (
	"bufio"
	"encoding/json"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
)

// programs are the connections of what cells have started: package frontend is their side.
type programs struct {
	mu    sync.Mutex
	comms map[string]*connected // who has opened a comm
	live  map[*connected]bool
	asks  *connected // which waits for a line of input
}

// connected is a program that has connected. What it displays belongs to the request that was carried out when it connected.
type connected struct {
	conn    net.Conn
	mu      sync.Mutex // of writing
	request message
}

// replaces ends the programs that an earlier execution of a cell has left, when the cell is executed again.
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

// cellOf is the id that a client gives the cell of a request, "" without one.
func cellOf(m message) string {
	var metadata struct {
		Cell string `json:"cellId"`
	}
	_ = json.Unmarshal(m.metadata, &metadata)
	return metadata.Cell
}

// programSocket is where programs find the kernel: in a folder that is the user's alone.
func programSocket(dir string) string { return filepath.Join(dir, "f") }

// serve takes connections until the listener closes.
func (p *programs) serve(l net.Listener, k *kernel) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
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

// listen passes on what a program sends, until it ends. Then its comms are closed.
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
		case askMessage:
			p.ask(one, k, m)
			continue
		case "comm_open", "comm_msg", "comm_close":
			p.follow(one, m)
		case "display_data", "update_display_data", "clear_output":
		default:
			continue // Nothing else is a program's to say.
		}
		out := one.request.answer(k.session, m.Type, m.Content)
		if m.Metadata != nil {
			out.metadata = m.Metadata
		}
		out.buffers = m.Buffers
		k.comms.note(out)
		k.tell(out)
	}
}

// ask asks the user for a line, where the client takes questions.
func (p *programs) ask(one *connected, k *kernel, m frontend.Message) {
	k.mu.Lock()
	x := k.current
	k.mu.Unlock()
	if x == nil || x.mute || x.request.head.ID != one.request.head.ID {
		one.send(frontend.Message{Type: tellMessage, Content: mustJSON(inputAnswer{End: true})})
		return
	}
	x.mu.Lock()
	asked := x.asked
	x.mu.Unlock()
	if asked {
		one.send(frontend.Message{Type: tellMessage, Content: mustJSON(inputAnswer{Wait: true})})
		return
	}
	p.mu.Lock()
	p.asks = one
	p.mu.Unlock()
	k.front.stdin.send(one.request.answer(k.session, "input_request", m.Content))
}

// asked is the program that waits for a line, or nil. It waits no longer.
func (p *programs) asked() *connected {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.asks
	p.asks = nil
	return one
}

// tell hands a program the user's answer.
func (one *connected) tell(m message) {
	var a inputAnswer
	if m.read(&a) != nil {
		a.End = true
	}
	one.send(frontend.Message{Type: tellMessage, Content: mustJSON(a)})
}

// follow notes whose comms are whose.
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

// owner is the program whose comm a client's message is for, or nil.
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

// take hands a program a client's comm message.
func (one *connected) take(m message) {
	one.send(frontend.Message{Type: m.head.Type, Content: m.content, Metadata: m.metadata, Buffers: m.buffers})
}

// hearLimit is how long a program may take to hear a message; one that is stopped must not hold up the kernel.
const hearLimit = 5 * time.Second

func (one *connected) send(m frontend.Message) {
	one.mu.Lock()
	defer one.mu.Unlock()
	_ = one.conn.SetWriteDeadline(time.Now().Add(hearLimit))
	if _, err := one.conn.Write(append(mustJSON(m), '\n')); err != nil {
		one.conn.Close()
	}
}

// ended closes what a program has left open.
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
