package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/internal/strict"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// answer returns the handler that decodes a request's body, calls f, and encodes the result.
func answer[In, Out any](s *Server, name string, f func(context.Context, *In) (*Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		in, err := body[In](s, w, r)
		var out *Out
		if err == nil && s.closed.Load() {
			err = errClosed
		}
		if err == nil {
			out, err = f(r.Context(), in)
		}
		status := http.StatusOK
		if err != nil {
			status = statusOf(err)
			fail(w, status, err)
		} else {
			write(w, status, out)
		}
		s.metrics.answered(name, status, time.Since(begun))
	}
}

// body decodes the body of a request. If In is struct{}, the request needs no body.
func body[In any](s *Server, w http.ResponseWriter, r *http.Request) (*In, error) {
	in := new(In)
	_, none := any(in).(*struct{})
	if r.Method != http.MethodPost || none && r.ContentLength == 0 {
		return in, nil
	}
	if err := checkType(r); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.options.MostBytes))
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, refused{fmt.Errorf("the body has more than %d bytes: send less, or start hyper serve with --max-bytes",
			large.Limit), http.StatusRequestEntityTooLarge}
	}
	if err == nil {
		err = strict.WithoutNull(text, in)
	}
	switch {
	case err == nil:
		return in, nil
	case errors.Is(err, io.EOF):
		err = errors.New("the request has no body: send a JSON object")
	case errors.Is(err, strconv.ErrRange):
		return nil, refused{fmt.Errorf("%w; numbers must be between -1e18 and 1e18", err), http.StatusUnprocessableEntity}
	}
	return nil, bad("%w; openapi.json describes the request", err)
}

// checkType reports a body that is not JSON. Browsers let pages of other sites send the types of HTML forms without a
// CORS preflight; this check keeps such requests out.
func checkType(r *http.Request) error {
	got := r.Header.Get("Content-Type")
	if kind, _, err := mime.ParseMediaType(got); err == nil && kind == "application/json" {
		return nil
	}
	return refused{fmt.Errorf("the body must have the header Content-Type: application/json, as curl --json sends it, "+
		"got %.80q", got), http.StatusUnsupportedMediaType}
}

// refused is an error of the client, with its HTTP status.
type refused struct {
	error
	status int
}

func bad(format string, args ...any) error {
	return refused{fmt.Errorf(format, args...), http.StatusBadRequest}
}

// statusOf returns the HTTP status of an error.
func statusOf(err error) int {
	var r refused
	switch {
	case errors.As(err, &r):
		return r.status
	case errors.Is(err, errReads):
		return http.StatusForbidden
	case errors.Is(err, agent.ErrUnknown):
		return http.StatusNotFound
	case errors.Is(err, agent.ErrExpired):
		return http.StatusGone
	case errors.Is(err, journal.ErrTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, agent.ErrNotFinite), errors.Is(err, agent.ErrReward):
		return http.StatusUnprocessableEntity
	case errors.Is(err, errClosed), errors.Is(err, agent.ErrLog), errors.Is(err, agent.ErrClosed),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

func fail(w http.ResponseWriter, status int, err error) {
	write(w, status, api.ErrorReply{Error: err.Error()})
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // an error means that the client has disconnected
}

// routes serves a mux, and answers in JSON where the mux would answer in plain text: 404, and 405 with the allowed
// methods.
func (s *Server) routes(mux *http.ServeMux) http.Handler {
	missing := s.guard(s.limited(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		plain := header{}
		h, _ := mux.Handler(r)
		h.ServeHTTP(plain, r)
		if allow := http.Header(plain).Get("Allow"); allow != "" {
			w.Header().Set("Allow", allow)
			fail(w, http.StatusMethodNotAllowed, fmt.Errorf("%.80s takes %s, got %.20s", r.URL.Path, allow, r.Method))
			return
		}
		fail(w, http.StatusNotFound, fmt.Errorf("there is no %.80s; openapi.json lists the paths", r.URL.Path))
	})))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, pattern := mux.Handler(r); pattern != "" {
			h.ServeHTTP(w, r)
			return
		}
		missing.ServeHTTP(w, r)
	})
}

// header is a http.ResponseWriter that keeps only the header.
type header http.Header

func (h header) Header() http.Header            { return http.Header(h) }
func (h header) Write(text []byte) (int, error) { return len(text), nil }
func (h header) WriteHeader(int)                {}

// guard admits requests that send the token. It compares hashes of tokens in constant time.
func (s *Server) guard(next http.Handler) http.Handler {
	if s.options.Token == "" {
		return next
	}
	want := sha256.Sum256([]byte(s.options.Token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(token))
		if !ok || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			fail(w, http.StatusUnauthorized, errors.New("the token is missing or wrong: send Authorization: Bearer TOKEN"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// limited refuses requests that exceed the Rate, except /metrics.
func (s *Server) limited(next http.Handler) http.Handler {
	if s.limit == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" && !s.limit.Allow() {
			w.Header().Set("Retry-After", "1")
			fail(w, http.StatusTooManyRequests, fmt.Errorf("more than %v requests a second; try again", s.options.Rate))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// recovered answers a request whose handler panics.
func (s *Server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				s.options.Log.Error("a request made the server panic", "path", r.URL.Path, "panic", p,
					"stack", string(debug.Stack()))
				fail(w, http.StatusInternalServerError, errors.New("the server failed; see its log"))
			}
		}()
		next.ServeHTTP(w, r)
	})
}

//go:embed openapi.json
var document []byte

func openapi(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(document)
}

//go:embed page.html
var html []byte

func page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'self' 'unsafe-inline'; frame-ancestors 'none'")
	_, _ = w.Write(html)
}
