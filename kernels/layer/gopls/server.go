package gopls

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// server is a language server that runs while it is used. The first question starts it. It ends after some time without
// a question, and the next question starts it again with the same files. A server that ends by itself is started again,
// too.
type server struct {
	start Starter
	begin func() map[string]any   // returns the parameters of initialize
	hear  func(*jsonrpc2.Request) // gets messages that the server sends without a request; may be nil; must not block
	rest  time.Duration

	mu    sync.Mutex // serializes questions
	conn  *jsonrpc2.Conn
	files map[string]shown // by URI
	asked time.Time
}

// shown is a file that the server has.
type shown struct {
	version int
	text    string
}

// goplsRest is the time without a question after which gopls ends. gopls needs 300 MB or more, and a second or two to
// start. A user who writes asks every few minutes. While a user reads, or is away, the memory is free for other
// kernels.
const goplsRest = 5 * time.Minute

func newServer(start Starter, begin func() map[string]any) *server {
	return &server{start: start, begin: begin, rest: goplsRest, files: map[string]shown{}}
}

// wake starts the server if it does not run. The caller holds the lock.
func (s *server) wake(ctx context.Context) error {
	s.asked = time.Now()
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.runs() {
		return nil
	}
	stream, err := s.start()
	if err != nil {
		return err
	}
	conn := jsonrpc2.NewConn(context.WithoutCancel(ctx), framed(stream), jsonrpc2.HandlerWithError(s.answer))
	if err := s.open(ctx, conn); err != nil {
		conn.Close()
		return err
	}
	s.conn = conn
	time.AfterFunc(s.rest, func() { s.doze(conn) })
	return nil
}

// runs reports whether there is a session. The caller holds the lock.
func (s *server) runs() bool {
	if s.conn == nil {
		return false
	}
	select {
	case <-s.conn.DisconnectNotify():
		s.conn = nil
	default:
	}
	return s.conn != nil
}

// open begins a session, and sends all files.
func (s *server) open(ctx context.Context, conn *jsonrpc2.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, helpLimit)
	defer cancel()
	var told json.RawMessage
	if err := conn.Call(ctx, "initialize", s.begin(), &told); err != nil {
		return err
	}
	if err := conn.Notify(ctx, "initialized", struct{}{}); err != nil {
		return err
	}
	for uri, f := range s.files {
		if err := notifyOpen(ctx, conn, uri, f); err != nil {
			return err
		}
	}
	return nil
}

func notifyOpen(ctx context.Context, conn *jsonrpc2.Conn, uri string, f shown) error {
	return conn.Notify(ctx, "textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": uri, "languageId": "go", "version": f.version, "text": f.text}})
}

// doze ends a session if there was no question for the time rest.
func (s *server) doze(conn *jsonrpc2.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != conn {
		return
	}
	if left := s.rest - time.Since(s.asked); left > 0 {
		time.AfterFunc(left, func() { s.doze(conn) })
		return
	}
	s.end()
}

// end ends the session. The caller holds the lock.
func (s *server) end() {
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}

// stop ends the session. The next question begins another.
func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
}

// show sends the text of a file to the server.
func (s *server) show(ctx context.Context, uri, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, had := s.files[uri]
	same := had && f.text == text
	if !same {
		s.files[uri] = shown{f.version + 1, text}
	}
	ran := s.runs()
	if err := s.wake(ctx); err != nil || !ran || same {
		return err
	}
	if !had {
		return notifyOpen(ctx, s.conn, uri, s.files[uri])
	}
	return s.conn.Notify(ctx, "textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": uri, "version": f.version + 1},
		"contentChanges": []any{map[string]string{"text": text}}})
}

// hide removes a file from the server.
func (s *server) hide(ctx context.Context, uri string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, had := s.files[uri]; !had {
		return nil
	}
	delete(s.files, uri)
	if !s.runs() {
		return nil
	}
	return s.conn.Notify(ctx, "textDocument/didClose", map[string]any{"textDocument": map[string]string{"uri": uri}})
}

// version returns the version of a file, or 0 if the server does not have the file.
func (s *server) version(uri string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[uri].version
}

// call sends a question and decodes the answer.
func (s *server) call(ctx context.Context, method string, params, answer any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.wake(ctx); err != nil {
		return err
	}
	return s.conn.Call(ctx, method, params, answer)
}

// answer answers a request of the server: there is no configuration.
func (s *server) answer(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
	if r.Method == "workspace/configuration" && r.Params != nil {
		var p struct{ Items []json.RawMessage }
		_ = json.Unmarshal(*r.Params, &p)
		return make([]any, len(p.Items)), nil
	}
	if s.hear != nil {
		s.hear(r)
	}
	return nil, nil
}
