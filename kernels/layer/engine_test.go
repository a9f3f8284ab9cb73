package layer

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/kernels/internal/zmtp"
)

// engineVar turns the test program into an engine. The engine does not answer while the named file does not exist.
const engineVar = "HYPERMODELS_TEST_ENGINE"

func init() {
	mark := os.Getenv(engineVar)
	if mark == "" {
		return
	}
	conn := must.M1(readConnection(strings.TrimPrefix(os.Args[len(os.Args)-1], "-kernel=")))
	shell := must.M1(zmtp.NewRouter(conn.address(conn.Shell)))
	must.M1(zmtp.NewRouter(conn.address(conn.Control)))
	must.M1(zmtp.NewRouter(conn.address(conn.Stdin)))
	pub := must.M1(zmtp.NewPub(conn.address(conn.IOPub), nil))
	if _, err := os.Stat(mark); err != nil {
		must.M(os.WriteFile(mark, nil, 0o600))
		time.Sleep(time.Hour)
	}
	key := signer(conn.Key)
	for {
		m := must.M1(key.decode(must.M1(shell.Receive())))
		out := m.answer("engine", "status", state("idle"))
		out.route = [][]byte{[]byte("status")}
		pub.Send(key.encode(out))
	}
}

// A GoNB that accepts connections and does not answer is ended, and another one is started.
func TestMuteEngine(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for an engine that does not answer")
	}
	t.Parallel() // After all tests that start another engine.
	startLimit = 2 * time.Second
	defer func() { startLimit = 60 * time.Second }()
	dir := must.M1(os.MkdirTemp("", "layer-")) // Its path is short enough for sockets.
	defer os.RemoveAll(dir)
	mark := filepath.Join(dir, "mark")
	c := Config{Connection: "kernel.json", Dir: dir, Start: dir, Engine: []string{os.Args[0]},
		Env: append(os.Environ(), engineVar+"="+mark)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	k := newKernel(c, "session", &front{}, cancel)
	e := must.M1(k.ensureEngine(ctx))
	if again := must.M1(k.ensureEngine(ctx)); again != e || k.engines != 2 {
		t.Errorf("%d engines, want the second to be the first that answers", k.engines)
	}
	if left := must.M1(filepath.Glob(filepath.Join(dir, "1", "*"))); len(left) > 0 {
		t.Errorf("the mute engine has left the files %v", left)
	}
	e.kill()
}

// GoNB would lose an answer that arrives before it has registered the question. If a client answers no questions, the
// kernel answers itself, and must wait as well.
func TestAnswerSettles(t *testing.T) {
	dir := must.M1(os.MkdirTemp("", "layer-")) // Its path is short enough for sockets.
	defer os.RemoveAll(dir)
	address := "ipc://" + filepath.Join(dir, "s")
	gonb := must.M1(zmtp.NewRouter(address))
	defer gonb.Close()
	socket := must.M1(zmtp.Dealer(t.Context(), address, "layer"))
	key := signer("key")
	e := &engine{ctx: t.Context(), stdin: &channel{key: key, socket: socket, from: socket}}
	k := newKernel(Config{}, "session", &front{}, func() {})
	request := message{}.answer("client", "execute_request", executeRequest{})
	k.current = newExchange(request)
	k.current.mute = true

	asked := time.Now()
	k.question(e, request.answer("gonb", "input_request", struct{}{}))
	answer := must.M1(key.decode(must.M1(gonb.Receive())))
	if took := time.Since(asked); answer.head.Type != "input_reply" || took < settle {
		t.Errorf("%s comes after %v, want an input_reply after %v or more", answer.head.Type, took, settle)
	}
}
