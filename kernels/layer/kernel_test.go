package layer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/kernels/internal/zmtp"
)

// sent records the messages that are sent on a channel.
type sent struct {
	key signer
	all chan message
}

func (s sent) Send(m zmtp.Message) error {
	one, err := s.key.decode(m)
	s.all <- one
	return err
}

// A question is answered while a cell runs, in the order of questions. The last state that clients receive is that the
// cell runs.
func TestQuestionsBesideACell(t *testing.T) {
	replies, outputs := sent{all: make(chan message, 10)}, sent{all: make(chan message, 10)}
	f := &front{shell: &channel{socket: replies}, iopub: &channel{socket: outputs}}
	k := newKernel(Config{Dir: t.TempDir()}, "session", f, func() {})
	go k.work(t.Context(), k.queue, true)
	go k.work(t.Context(), k.questions, false)
	k.starting.Lock() // The cell waits for its engine until the end of the test.
	state := func() string {
		m := <-outputs.all
		for m.head.Type != "status" {
			m = <-outputs.all
		}
		var body struct {
			State string `json:"execution_state"`
		}
		m.read(&body)
		return strings.TrimSuffix(m.parent.Type, "_request") + " " + body.State
	}
	k.enqueue(message{}.answer("client", "execute_request", executeRequest{Code: "%%"}))
	states := []string{state()}
	for _, code := range []string{"%hy", "%cap"} {
		k.enqueue(message{}.answer("client", "complete_request", map[string]any{"code": code, "cursor_pos": len(code)}))
	}
	for _, want := range []string{"%hyper", "%capture"} {
		var body struct{ Matches []string }
		if m := <-replies.all; m.read(&body) != nil || fmt.Sprint(body.Matches) != "["+want+"]" {
			t.Errorf("%s of %v, want %s", m.head.Type, body.Matches, want)
		}
	}
	for range 6 {
		states = append(states, state())
	}
	beside := []string{"complete busy", "complete idle", "execute busy"}
	if want := slices.Concat([]string{"execute busy"}, beside, beside); !slices.Equal(states, want) {
		t.Errorf("%q, want %q", states, want)
	}
}
