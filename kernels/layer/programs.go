package layer

import (
	"bufio"
	"encoding/json"
	"net"
	"path/filepath"
	"sync"

	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
)

// programs are the connections of what cells have started: package frontend is their side.
type programs struct {
	mu    sync.Mutex
	comms map[string]*program // who has opened a comm
}

// program is a connection. What it displays belongs to the request that was carried out when it connected.
type program struct {
	conn    net.Conn
	mu      sync.Mutex // of writing
	request message
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
		one := &program{conn: conn}
		k.mu.Lock()
		if k.current != nil {
			one.request = k.current.request
		}
		k.mu.Unlock()
		go p.listen(one, k)
	}
}

// listen passes on what a program sends, until it ends. Then its comms are closed.
func (p *programs) listen(one *program, k *kernel) {
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
		out.route, out.buffers = [][]byte{[]byte(m.Type)}, m.Buffers
		k.comms.note(out)
		k.front.iopub.send(out)
	}
}

// follow notes whose comms are whose.
func (p *programs) follow(one *program, m frontend.Message) {
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
			p.comms = map[string]*program{}
		}
		p.comms[body.ID] = one
	case "comm_close":
		delete(p.comms, body.ID)
	}
}

// take hands a client's comm message to the program whose comm it is. The result tells whether there is one.
func (p *programs) take(m message) bool {
	var body struct {
		ID string `json:"comm_id"`
	}
	if m.read(&body) != nil {
		return false
	}
	p.mu.Lock()
	one := p.comms[body.ID]
	if one != nil && m.head.Type == "comm_close" {
		delete(p.comms, body.ID)
	}
	p.mu.Unlock()
	if one == nil {
		return false
	}
	one.send(frontend.Message{Type: m.head.Type, Content: m.content, Metadata: m.metadata, Buffers: m.buffers})
	return true
}

func (one *program) send(m frontend.Message) {
	one.mu.Lock()
	defer one.mu.Unlock()
	_, _ = one.conn.Write(append(mustJSON(m), '\n'))
}

// ended closes what a program has left open.
func (p *programs) ended(one *program, k *kernel) {
	one.conn.Close()
	p.mu.Lock()
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
		out.route = [][]byte{[]byte("comm_close")}
		k.comms.note(out)
		k.front.iopub.send(out)
	}
}
