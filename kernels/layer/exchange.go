package layer

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/hypermodels/hypermodels/kernels/layer/wrapper"
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
	stderr      wrapper.MarkReader
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

// question passes on a question of the engine to the user. If the client answers no questions, the answer is empty.
func (k *kernel) question(e *engine, m message) {
	e.question()
	if x := k.exchangeOf(m); x != nil && x.mute {
		e.answer(m.answer(k.session, "input_reply", map[string]string{"value": "", "status": "ok"}))
		return
	} else if x != nil {
		x.ask(true)
	}
	k.gathering.release()
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
	text := x.stderr.Add(s.Text)
	x.mu.Unlock()
	if text != "" && !x.silent {
		k.tell(m.with(map[string]string{"name": s.Name, "text": text}))
	}
}

// converse sends a request to the engine, in the given form, and waits for the reply and for the last output.
func (k *kernel) converse(e *engine, x *exchange, form message) (message, error) {
	k.mu.Lock()
	k.current = x
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		k.current = nil
		k.mu.Unlock()
	}()
	if err := e.shell.send(form); err != nil {
		return message{}, e.death(err)
	}
	var reply message
	var late <-chan time.Time
	for got, idle := false, x.idle; !got || idle != nil; {
		select {
		case reply = <-x.reply:
			got = true
		case <-idle:
			idle, late = nil, time.After(replyDelay)
		case <-late:
			return message{}, errNoReply
		case <-e.ctx.Done():
			return message{}, e.death(nil)
		}
	}
	return reply, nil
}

// replyDelay is the maximum time for a reply after the engine is idle again. GoNB normally sends the reply earlier.
const replyDelay = 2 * time.Second

var errNoReply = errors.New("GoNB gave no answer")
