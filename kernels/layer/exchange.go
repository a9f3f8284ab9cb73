package layer

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
)

// exchange is a request that the engine carries out.
type exchange struct {
	request message // as the client sent it
	reply   chan message
	idle    chan struct{}

	// Of an execution:
	silent bool // publish no outputs
	mute   bool // the client answers no questions

	mu          sync.Mutex
	stderr      unfolder
	interrupted bool
	asked       bool   // the engine is asking the user
	failure     *fault // the engine's error, as the engine published it
	over        bool
}

func newExchange(m message) *exchange {
	return &exchange{request: m, reply: make(chan message, 1), idle: make(chan struct{})}
}

func (x *exchange) interrupt() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.interrupted = true
}

func (x *exchange) ask(now bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked = now
}

// ensureEngine returns the running engine, or starts one. If the new engine does not answer, it tries once more.
func (k *kernel) ensureEngine(ctx context.Context) (*engine, error) {
	k.starting.Lock() // Cells and questions both ask for an engine.
	defer k.starting.Unlock()
	if e := k.running(); e != nil {
		select {
		case <-e.gone:
			e.kill() // Removes its remaining files.
		default:
			return e, nil
		}
	}
	e, err := k.startEngine(ctx)
	if errors.Is(err, errMute) {
		e, err = k.startEngine(ctx)
	}
	return e, err
}

func (k *kernel) startEngine(ctx context.Context) (*engine, error) {
	k.mu.Lock()
	k.engine = nil
	k.engines++
	number := k.engines
	k.mu.Unlock()
	k.comms.clear()
	e, err := startEngine(ctx, k.config, number)
	if err != nil {
		return nil, err
	}
	e.gopls = newAssistant(func(dir string) (io.ReadWriteCloser, error) {
		env := k.config.Env
		return StartGopls(goplsOf(k.config), dir, append(env[:len(env):len(env)], "TMPDIR="+e.dir), nil)
	}, e.programDir)
	k.mu.Lock()
	k.engine = e
	k.mu.Unlock()
	go e.listen(e.shell, k.fromShell)
	go e.listen(e.iopub, func(m message) { k.fromIOPub(e, m) })
	go e.listen(e.control, func(message) {}) // Replies to interrupts.
	go e.listen(e.stdin, func(m message) { k.question(e, m) })
	if err := e.awaitReady(); err != nil {
		return nil, err
	}
	return e, nil
}

// question passes on a question of the engine to the user. If the client answers no questions, the answer is empty.
func (k *kernel) question(e *engine, m message) {
	e.question()
	if x := k.exchangeOf(m); x != nil && x.mute {
		e.answer(m.answer(k.session, "input_reply", map[string]string{"value": "", "status": "ok"}))
		return
	} else if x != nil {
		x.ask(true)
	}
	k.front.stdin.send(m)
}

// fromShell receives a reply of the engine. Replies to other requests than the current one answer probes and
// interrupts; the client does not wait for them.
func (k *kernel) fromShell(m message) {
	if x := k.exchangeOf(m); x != nil {
		select {
		case x.reply <- m:
		default:
		}
	}
}

func (k *kernel) exchangeOf(m message) *exchange {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current != nil && k.current.request.head.ID == m.parent.ID {
		return k.current
	}
	return nil
}

// fromIOPub receives an output of the engine.
func (k *kernel) fromIOPub(e *engine, m message) {
	e.heard()
	x := k.exchangeOf(m)
	switch m.head.Type {
	case "status":
		var s struct {
			State string `json:"execution_state"`
		}
		if m.read(&s); s.State == "idle" && x != nil {
			x.finish()
		}
		return // The kernel publishes its own status.
	case "comm_open", "comm_close":
		k.comms.note(m)
	}
	if x != nil {
		x.output(k, m)
		return
	}
	k.tell(m)
}

func (x *exchange) finish() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over {
		x.over = true
		close(x.idle)
	}
}

// clearMIME is the type of displayed data that clears the output of a cell:
//
//	gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{"application/x-clear-output": ""}})
//
// The data "wait" keep the output until there is a new output.
const clearMIME = "application/x-clear-output"

// output publishes an output of an execution, without the parts that are for the layer only.
func (x *exchange) output(k *kernel, m message) {
	switch m.head.Type {
	case "execute_input": // The kernel publishes its own.
	case "error":
		x.mu.Lock()
		x.failure = &fault{}
		m.read(x.failure)
		x.mu.Unlock()
	case "stream":
		x.stream(k, m)
	case "display_data":
		var d struct {
			Data map[string]json.RawMessage
		}
		m.read(&d)
		if x.silent {
			return
		}
		if wait, ok := d.Data[clearMIME]; ok {
			k.publish(x.request, "clear_output", map[string]bool{"wait": strings.Contains(string(wait), "wait")})
			return
		}
		k.tell(m)
	default:
		k.tell(m)
	}
}

// stream publishes text.
func (x *exchange) stream(k *kernel, m message) {
	var s struct{ Name, Text string }
	if m.read(&s) != nil || s.Name != "stderr" {
		if !x.silent {
			k.tell(m)
		}
		return
	}
	x.mu.Lock()
	text := x.stderr.add(s.Text)
	x.mu.Unlock()
	if text != "" && !x.silent {
		k.tell(m.with(map[string]string{"name": s.Name, "text": text}))
	}
}
