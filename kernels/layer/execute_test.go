package layer

import (
	"strings"
	"testing"
)

// brokenKernel returns a kernel whose engine does not start, and its replies.
func brokenKernel(t *testing.T) (*kernel, chan message) {
	replies, outputs := make(chan message, 10), make(chan message, 10)
	f := &front{shell: &channel{socket: sent{all: replies}}, iopub: &channel{socket: sent{all: outputs}}}
	c := Config{Dir: t.TempDir(), Engine: []string{"/no engine"}, Connection: "kernel.json"}
	return newKernel(c, "session", f, func() {}), replies
}

// Some clients send the cells of a file that was written on Windows.
func TestCellWithWindowsLines(t *testing.T) {
	k, replies := brokenKernel(t)
	code := map[string]string{"code": "%%bash\r\nls"}
	k.execute(t.Context(), request{message{}.answer("client", "execute_request", code), 1})
	<-replies
	if line, ok := k.history.line(1, 1); !ok || line != "%%bash" {
		t.Errorf("got first line %q, want %%%%bash", line)
	}
	k.local(k.front.shell, message{}.answer("client", "is_complete_request", map[string]string{"code": "%%bash\r\nif a"}))
	if m := <-replies; !strings.Contains(string(m.content), `"complete"`) {
		t.Errorf("got %s, want a complete cell", m.content)
	}
}

// A client waits for the reply to each request.
func TestReplyToAMalformedRequest(t *testing.T) {
	k, replies := brokenKernel(t)
	k.broken = newFault("KernelError", "the Go kernel did not start")
	m := message{}.answer("client", "execute_request", map[string]any{"user_expressions": map[string]int{"a": 1}})
	for _, answer := range []func(request){func(r request) { k.execute(t.Context(), r) }, k.refuse} {
		answer(request{m, 1})
		select {
		case reply := <-replies:
			if !strings.Contains(string(reply.content), `"status":"error"`) {
				t.Errorf("got %s, want an error", reply.content)
			}
		default:
			t.Error("got no reply")
		}
	}
}
