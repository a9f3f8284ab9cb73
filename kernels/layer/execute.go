package layer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

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

// ask answers a request for completion or inspection.
func (k *kernel) ask(ctx context.Context, m message) {
	var in struct {
		Code   *string `json:"code"`
		Cursor *int    `json:"cursor_pos"`
	}
	if m.read(&in) != nil || in.Code == nil || in.Cursor == nil {
		k.reply(k.front.shell, m, failed(newFault("KernelError", errMalformed.Error())))
		return
	}
	answer, err := k.help(ctx, m.head.Type, *in.Code, *in.Cursor)
	if err != nil {
		answer = failed(newFault("KernelError", err.Error()))
	}
	k.reply(k.front.shell, m, answer)
}

// help completes or inspects code. gopls answers for Go, the layer for the name of a magic, and the hyper command for a
// %hyper line. On other lines the answer is empty.
func (k *kernel) help(ctx context.Context, kind, code string, cursor int) (map[string]any, error) {
	// JupyterLab asks about the position after its suggestion, and counts the suggestion twice.
	cursor = max(0, min(cursor, len([]rune(code))))
	if word, first, ok := magicAt(code, cursor); ok && kind == "complete_request" {
		return completeMagic(word, first, cursor), nil
	}
	words, ok := commandLine(code, cursor)
	ok = ok && kind == "complete_request"
	if !ok && !isGo(code, cursor) {
		return map[string]any{"status": "ok", "found": false, "data": map[string]any{}, "metadata": map[string]any{},
			"matches": []string{}, "cursor_start": cursor, "cursor_end": cursor}, nil
	}
	e, err := k.ensureEngine(ctx)
	switch {
	case err != nil:
		return nil, err
	case !isGo(code, cursor):
		return k.completeCommand(ctx, e, words, cursor), nil
	case kind == "inspect_request":
		return e.gopls.inspect(e.ctx, code, cursor)
	}
	return e.gopls.complete(e.ctx, code, cursor)
}

// executeRequest is the content of an execute_request. Missing fields get the protocol's defaults.
type executeRequest struct {
	Code        string            `json:"code"`
	Silent      bool              `json:"silent"`
	Store       bool              `json:"store_history"`
	Expressions map[string]string `json:"user_expressions,omitempty"`
	Stdin       bool              `json:"allow_stdin"`
	StopOnError bool              `json:"stop_on_error"`
}

// expressions returns the reply's values of the request's user_expressions: an error for each. A cell is a program, and
// after its end there are no values.
func (in executeRequest) expressions() map[string]*expression {
	out := map[string]*expression{}
	for name := range in.Expressions {
		f := newFault("NotSupported", "a cell is a program: its values no longer exist when the program has ended")
		out[name] = &expression{"error", f}
	}
	return out
}

// expression is the protocol's form of the result of a user expression.
type expression struct {
	Status string `json:"status"`
	*fault
}

// execute executes a cell.
func (k *kernel) execute(ctx context.Context, r request) {
	if r.number <= k.abortedUpTo() {
		k.transcripts.forget(r.head.ID)
		k.reply(k.front.shell, r.message, map[string]any{"status": "aborted", "execution_count": k.count})
		return
	}
	in := executeRequest{Store: true, Stdin: true, StopOnError: true}
	if r.read(&in) != nil {
		return
	}
	in.Store = in.Store && !in.Silent
	if in.Store {
		k.count++
	}
	if in.Store || k.count == 0 {
		k.history.add(k.count, in.Code)
	}
	k.transcripts.begin(r.head.ID, k.count)
	k.programs.replaces(r.message)
	f := k.evaluate(ctx, r.message, in)
	if f == nil {
		k.reply(k.front.shell, r.message, map[string]any{"status": "ok", "execution_count": k.count,
			"payload": []any{}, "user_expressions": in.expressions()})
		return
	}
	if in.StopOnError {
		k.abort()
	}
	if !in.Silent {
		k.publish(r.message, "error", f)
	}
	answer := failed(f)
	answer["execution_count"] = k.count
	k.reply(k.front.shell, r.message, answer)
}

// evaluate runs a cell in the engine, and returns the reason of its failure, or nil.
func (k *kernel) evaluate(ctx context.Context, m message, in executeRequest) *fault {
	if !in.Silent {
		k.publish(m, "execute_input", map[string]any{"code": in.Code, "execution_count": k.count})
	}
	e, err := k.ensureEngine(ctx)
	if err != nil {
		k.told = k.started()
		return newFault("KernelError", fmt.Sprintf("GoNB does not start: %v", err))
	}
	if err := lower(stopFile(k.config.Dir)); err != nil {
		return newFault("KernelError", err.Error())
	}
	k.tellLost(m)
	x := newExchange(m)
	x.silent, x.mute = in.Silent, !in.Stdin
	var p *program
	var all []decl
	if isGoCell(in.Code) {
		var f *fault
		if in.Code, p, all, f = k.prepare(m, x, in.Code); f != nil {
			return f
		}
	} else {
		in.Code = rewrite(in.Code, k.config.Program)
	}
	if err := submit(k.config.Dir, p); err != nil {
		return newFault("KernelError", err.Error())
	}
	_, err = k.converse(e, x, m.with(in))
	switch {
	case errors.Is(err, errNoReply):
		return newFault("KernelError", err.Error())
	case err != nil:
		k.told++
		return engineDied(err)
	}
	if f := k.learn(x, p, all); f != nil {
		return f
	}
	if f := x.verdict(k.history.line); f != nil {
		return f
	}
	if v := x.stderr.value; v != nil && !x.silent {
		k.publish(m, "execute_result", map[string]any{"execution_count": k.count, "metadata": struct{}{},
			"data": map[string]string{"text/plain": shortened(*v)}})
	}
	return nil
}

// longestValue is the maximum number of bytes that is shown of a value.
const longestValue = 1 << 16

func shortened(text string) string {
	if len(text) <= longestValue {
		return text
	}
	return fmt.Sprintf("%s … (%d bytes)", strings.ToValidUTF8(text[:longestValue], ""), len(text))
}

// prepare splits a cell of Go into the lines that GoNB carries out and the program that is compiled instead of GoNB's.
// The program is nil if there is none. prepare also returns the declarations to remember if the program compiles.
func (k *kernel) prepare(m message, x *exchange, code string) (string, *program, []decl, *fault) {
	var about struct {
		Deleted []string `json:"deletedCells"`
	}
	_ = json.Unmarshal(m.metadata, &about)
	k.memory.forget(about.Deleted)
	c, wrong := parseCell(code)
	for i := range wrong {
		wrong[i].Cell = k.count
	}
	if wrong != nil {
		return "", nil, nil, compileFault(wrong, k.history.line)
	}
	if f := k.own(x, &c); f != nil {
		return "", nil, nil, f
	}
	form := rewriteLines(strings.Join(c.commands, "\n"), k.config.Program)
	if c.empty && !c.test {
		return form, nil, nil, nil
	}
	p, all := k.memory.with(c, k.count, cellOf(m))
	switch {
	case c.wasm:
		return p.whole(form, c.main), nil, nil, nil
	case c.test:
		return form, &p, all, nil
	case c.main == "":
		c.main = "%%"
	}
	return form + "\n" + c.main + "\n_ = 0", &p, all, nil // GoNB runs nothing if it finds no Go.
}

// learn reads the result of building a program, and returns the errors of the cell, or nil.
func (k *kernel) learn(x *exchange, p *program, all []decl) *fault {
	if p == nil {
		return nil
	}
	b, ok := result(k.config.Dir)
	if !ok {
		return nil // GoNB reports the reason.
	}
	first := k.memory.empty()
	for i, c := range b.Complaints {
		if name, ok := strings.CutPrefix(c.Text, "undefined: "); ok {
			if hint := k.memory.hint(name, first); hint != "" {
				b.Complaints[i].Text += "\n" + hint
			}
		}
	}
	if b.Kept {
		k.memory.keep(*p, all, b)
	}
	x.mu.Lock()
	interrupted := x.interrupted
	x.mu.Unlock()
	if len(b.Complaints) == 0 || interrupted {
		return nil
	}
	if b.Kept && !x.silent {
		for _, note := range b.Notes {
			k.publish(x.request, "stream", map[string]string{"name": "stderr", "text": note + "\n"})
		}
	}
	return compileFault(b.Complaints, k.history.line)
}

// lost tells the user what a crash of the engine loses. Declarations of cells stay, because the kernel has them.
const lost = "the settings of %env, %cd and %goflags are lost"

// tellLost tells the user if the engine has ended since the last cell.
func (k *kernel) tellLost(m message) {
	started := k.started()
	if started > k.told {
		k.publish(m, "stream", map[string]string{"name": "stderr",
			"text": "GoNB had ended and was started again; " + lost + "\n"})
	}
	k.told = started
}

// verdict returns the reason of the cell's failure, or nil.
func (x *exchange) verdict(source sources) *fault {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch failed := x.stderr.failed; {
	case failed != nil && x.stderr.panics.Len() > 0:
		return panicFault(x.stderr.panics.String(), source)
	case failed != nil:
		return statusFault(*failed, x.interrupted)
	case x.failure != nil:
		return engineFault(*x.failure)
	}
	return nil
}

func engineDied(err error) *fault {
	return newFault("KernelError", fmt.Sprintf("GoNB has ended and will be started again; %s: %v", lost, err))
}

// failed returns the content of a reply about a failure.
func failed(f *fault) map[string]any {
	return map[string]any{"status": "error", "ename": f.Name, "evalue": f.Value, "traceback": f.Trace}
}

// abort cancels the executions that are waiting: the client requested them before it knew of the failure.
func (k *kernel) abort() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.aborted = k.received
}

func (k *kernel) abortedUpTo() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.aborted
}
