package layer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hypermodels/hypermodels/kernels/layer/build"
	"github.com/hypermodels/hypermodels/kernels/layer/cells"
	"github.com/hypermodels/hypermodels/kernels/layer/wrapper"
)

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
		k.reply(k.front.shell, r.message, map[string]any{"status": "aborted"}) // Without a number, like ipykernel.
		return
	}
	in := executeRequest{Store: true, Stdin: true, StopOnError: true}
	if r.read(&in) != nil {
		k.transcripts.forget(r.head.ID)
		k.reply(k.front.shell, r.message, malformed())
		return
	}
	in.Code = unixLines(in.Code)
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

// unixLines returns the code of a cell with the line ends that the kernel and GoNB know.
func unixLines(code string) string { return strings.ReplaceAll(code, "\r\n", "\n") }

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
	if err := wrapper.ClearStop(wrapper.StopFile(k.config.Dir)); err != nil {
		return newFault("KernelError", err.Error())
	}
	k.tellLost(m)
	x := newExchange(m)
	x.silent, x.mute = in.Silent, !in.Stdin
	if f := k.runIn(e, x, in); f != nil {
		return f
	}
	if v := x.stderr.Value; v != nil && !x.silent {
		k.publish(m, "execute_result", map[string]any{"execution_count": k.count, "metadata": struct{}{},
			"data": map[string]string{"text/plain": shortened(*v)}})
	}
	return nil
}

// runIn runs a cell in an engine, and remembers its declarations.
func (k *kernel) runIn(e *engine, x *exchange, in executeRequest) *fault {
	var p *cells.Program
	var all []cells.Decl
	if cells.IsGo(in.Code) {
		var f *fault
		if in.Code, p, all, f = k.prepare(x, in.Code); f != nil {
			return f
		}
	} else {
		in.Code = wrapper.Rewrite(in.Code, k.config.Program)
	}
	if err := build.Submit(k.config.Dir, p); err != nil {
		return newFault("KernelError", err.Error())
	}
	_, err := k.converse(e, x, x.request.with(in))
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
	return x.verdict(k.history.line)
}

// longestValue is the maximum number of bytes that is shown of a value.
const longestValue = 1 << 16

func shortened(text string) string {
	if len(text) <= longestValue {
		return text
	}
	return fmt.Sprintf("%s … (%d bytes)", strings.ToValidUTF8(text[:longestValue], ""), len(text))
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
