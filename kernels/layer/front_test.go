package layer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/kernels/internal/zmtp"
)

// A client that stops reading while a cell prints 120 MB receives the beginning, a line with the number of missing
// bytes, the cell's error, and "idle".
func TestOutputForWhoStandsStill(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a client that stands still")
	}
	t.Parallel()
	c := connection{Transport: "tcp", IP: "127.0.0.1", Key: "secret"}
	f := must.M1(bind(c, "session"))
	t.Cleanup(f.close)
	client := must.M1(zmtp.Subscriber(t.Context(), "tcp://"+f.pub.Addr().String()))
	t.Cleanup(client.Close)
	next := func() message { return must.M1(signer(c.Key).decode(must.M1(client.Receive()))) }
	if m := next(); m.head.Type != "iopub_welcome" {
		t.Fatalf("first message: got %q, want iopub_welcome", m.head.Type)
	}
	request := message{}.answer("client", "execute_request", struct{}{})
	publish := func(kind string, content any) {
		m := request.answer("session", kind, content)
		m.route = [][]byte{[]byte(kind)}
		must.M(f.iopub.send(m))
	}
	publish("status", state("busy"))
	text := strings.Repeat("x", 1e6)
	const printed = 120
	for i := range printed {
		publish([]string{"stream", "display_data"}[i%2], map[string]string{"name": "stdout", "text": text})
	}
	publish("error", newFault("panic", "p"))
	publish("status", state("idle"))

	whole, said, order := 0, "", ""
	for !strings.HasSuffix(order, "idle ") {
		m := next()
		var content struct {
			Name, Text string
			State      string `json:"execution_state"`
		}
		must.M(m.read(&content))
		switch {
		case m.parent.ID != request.head.ID:
			t.Errorf("message %q does not belong to the request", m.head.Type)
		case content.Name == "stdout":
			whole++
		case content.Name == "stderr":
			said, order = content.Text, order+"line "
		default:
			order += m.head.Type + content.State + " "
		}
	}
	if order != "statusbusy line error statusidle " || whole < 60 || whole > 100 {
		t.Errorf("got messages %q and %d of %d outputs", order, whole, printed)
	}
	var missing float64
	if _, err := fmt.Sscanf(strings.TrimSpace(said), "[%f MB of output left out:", &missing); err != nil ||
		missing < float64(printed-whole) || missing > 1.01*float64(printed-whole) {
		t.Errorf("%d MB are missing, but the line says %q", printed-whole, said)
	}
	publish("stream", map[string]string{"name": "stdout", "text": "next"})
	quick := time.AfterFunc(10*time.Second, client.Close)
	defer quick.Stop()
	if m := next(); !strings.Contains(string(m.content), `"next"`) {
		t.Errorf("next message: got %s, want the next request's", m.content)
	}
}
