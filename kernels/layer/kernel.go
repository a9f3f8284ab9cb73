package layer

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
)

// kernel handles a client's requests. It handles the requests of the shell channel one after the other, except that it
// answers questions about code while a cell runs.
type kernel struct {
	config    Config
	session   string
	front     *front
	quit      context.CancelFunc
	queue     chan request
	questions chan request
	history   history
	comms     comms
	programs  programs
	starting  sync.Mutex // held while an engine starts
	states    states
	memory    cells.Memory // declarations of cells
	broken    *fault       // the reason why no cell can be executed, or nil

	transcripts transcripts // of executions
	gathering   gathering   // of text

	mu       sync.Mutex
	engine   *engine // nil before the first start, and after a death
	engines  int     // number of engines started so far
	told     int     // number of those engines that the user knows of
	current  *exchange
	count    int // number of cells executed so far
	received int // number of requests received so far
	aborted  int // number of the last execution request that must not be carried out
}

// request is a message with its number, in the order of arrival.
type request struct {
	message
	number int
}

// queueLength is more than the number of cells of a notebook.
const queueLength = 1 << 16

func newKernel(c Config, session string, f *front, quit context.CancelFunc) *kernel {
	k := &kernel{config: c, session: session, front: f, quit: quit, queue: make(chan request, queueLength),
		questions: make(chan request, queueLength), told: 1}
	k.gathering.pass = func(m message) { k.transcripts.send(m, f.iopub.send) }
	return k
}

// run starts all goroutines of the kernel, and returns at once.
func (k *kernel) run(ctx context.Context) {
	k.publish(message{}, "status", state("starting"))
	go k.front.shell.listen(k.enqueue)
	go k.front.control.listen(func(m message) { k.control(ctx, m) })
	go k.front.stdin.listen(func(m message) {
		if one := k.programs.asked(); one != nil {
			one.tell(m)
		} else if e := k.running(); e != nil {
			e.answer(m)
			k.mu.Lock()
			x := k.current
			k.mu.Unlock()
			if x != nil {
				x.ask(false)
			}
		}
	})
	go func() {
		if k.broken == nil {
			k.ensureEngine(ctx) // The next cell tries again, and reports the error.
		}
		k.work(ctx, k.queue, true)
	}()
	go k.work(ctx, k.questions, false)
}

// work handles the requests of a queue. cells reports whether it is the queue of cells.
func (k *kernel) work(ctx context.Context, queue <-chan request, cells bool) {
	for {
		select {
		case r := <-queue:
			k.during(r.message, cells, func() { k.handle(ctx, r) })
			if r.head.Type == "shutdown_request" {
				k.quit()
			}
		case <-ctx.Done():
			return
		}
	}
}

// states keeps the messages about the kernel's state in order.
type states struct {
	mu   sync.Mutex
	cell *message // the request of the queue of cells that is being handled
}

// during handles a request of a queue, and publishes "busy" before and "idle" after it. Clients take the last message,
// of any request, as the kernel's state, and Jupyter ends kernels that it believes to be idle. Therefore "busy" is
// published again after a question that was answered while a cell runs.
func (k *kernel) during(m message, cell bool, do func()) {
	tell := func(name string, now *message) {
		k.states.mu.Lock()
		defer k.states.mu.Unlock()
		if cell {
			k.states.cell = now
		}
		k.publish(m, "status", state(name))
		if beside := k.states.cell; name == "idle" && beside != nil {
			k.publish(*beside, "status", state("busy"))
		}
	}
	tell("busy", &m)
	do()
	tell("idle", nil)
}

// runsCell reports whether a request of the queue of cells is being handled.
func (k *kernel) runsCell() bool {
	k.states.mu.Lock()
	defer k.states.mu.Unlock()
	return k.states.cell != nil
}

// started returns the number of engines started so far.
func (k *kernel) started() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.engines
}

// stop ends the engine.
func (k *kernel) stop() {
	if e := k.running(); e != nil {
		e.kill()
	}
}

func (k *kernel) running() *engine {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.engine
}

// enqueue receives a message of the shell channel. Messages of comms are handled at once, because widgets communicate
// with the running cell.
func (k *kernel) enqueue(m message) {
	switch m.head.Type {
	case "comm_open", "comm_msg", "comm_close":
		// A page delays further actions of a user on a widget until it receives "idle".
		k.during(m, false, func() { k.comm(m) })
		return
	}
	k.mu.Lock()
	k.received++
	r := request{m, k.received}
	k.mu.Unlock()
	switch kind := m.head.Type; {
	case kind == "complete_request", kind == "inspect_request", askedByPages[kind] && k.runsCell():
		k.questions <- r
	default:
		if kind == "execute_request" {
			k.transcripts.expect(m)
		}
		k.queue <- r
	}
}

// askedByPages lists the requests of a page that opens a notebook. If no cell runs, the answers wait for the start of
// the engine, and so show that cells can run.
var askedByPages = map[string]bool{"kernel_info_request": true, "comm_info_request": true}

// comm passes a client's comm message to the program that owns the comm, or to GoNB. If a client opens a comm of
// unknown kind, it is closed at once; otherwise the client would wait. Jupyter's widgets open such a comm to ask for
// their states.
func (k *kernel) comm(m message) {
	var body struct {
		ID     string          `json:"comm_id"`
		Target string          `json:"target_name"`
		Data   json.RawMessage `json:"data"`
	}
	if m.read(&body) != nil {
		return
	}
	if m.head.Type == "comm_open" && body.Target == cellsTarget {
		k.answerPage(m, body.ID, body.Data)
		return
	}
	if m.head.Type == "comm_open" && body.Target != gonbTarget {
		k.publish(m, "comm_close", map[string]any{"comm_id": body.ID, "data": struct{}{}})
		return
	}
	k.comms.note(m)
	if one := k.programs.owner(m); one != nil {
		one.take(m)
	} else if e := k.running(); e != nil {
		e.shell.send(m)
	}
}

// handle handles a request of the shell channel.
func (k *kernel) handle(ctx context.Context, r request) {
	switch kind := r.head.Type; {
	case k.broken != nil && (kind == "execute_request" || kind == "complete_request" || kind == "inspect_request"):
		k.refuse(r)
	case kind == "execute_request":
		k.execute(ctx, r)
	case kind == "complete_request" || kind == "inspect_request":
		k.ask(ctx, r.message)
	default:
		k.local(k.front.shell, r.message)
	}
}

// reply answers a request on the channel from which it came. The type of the answer to x_request is x_reply.
func (k *kernel) reply(c *channel, m message, content any) {
	kind := m.head.Type[:len(m.head.Type)-len("request")] + "reply"
	c.send(m.answer(k.session, kind, content))
}

// publish sends all clients a message that results from a request.
func (k *kernel) publish(m message, kind string, content any) {
	k.tell(m.answer(k.session, kind, content))
}

// tell sends a message to all clients. The topic is the type of the message.
func (k *kernel) tell(m message) {
	m.route = [][]byte{[]byte(m.head.Type)}
	k.gathering.send(m)
}

func state(name string) map[string]string { return map[string]string{"execution_state": name} }
