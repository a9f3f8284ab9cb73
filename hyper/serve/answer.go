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
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent"
)

// Failure is the answer of a request that failed.
type Failure struct {
	Error string `json:"error"`
}

// answer makes a handler of a function from a request's body to an answer.
func answer[In, Out any](s *Server, name string, f func(context.Context, *In) (*Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		in, err := body[In](s, w, r)
		var out *Out
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

// body reads a request; nothing is an empty one.
func body[In any](s *Server, w http.ResponseWriter, r *http.Request) (*In, error) {
	in := new(In)
	if r.Method == http.MethodGet {
		return in, nil
	}
	err := decode(http.MaxBytesReader(w, r.Body, s.options.MostBytes), in)
	var large *http.MaxBytesError
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return in, nil
	case errors.As(err, &large):
		return nil, err
	}
	return nil, bad("the request is not as openapi.json says: %v", err)
}

// statusOf is the HTTP status of an error.
func statusOf(err error) int {
	var large *http.MaxBytesError
	var b badRequest
	switch {
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge
	case errors.As(err, &b):
		return http.StatusBadRequest
	case errors.Is(err, errReads):
		return http.StatusForbidden
	case errors.Is(err, agent.ErrUnknown):
		return http.StatusNotFound
	case errors.Is(err, agent.ErrExpired):
		return http.StatusGone
	case errors.Is(err, agent.ErrNotFinite), errors.Is(err, agent.ErrReward):
		return http.StatusUnprocessableEntity
	case errors.Is(err, agent.ErrLog), errors.Is(err, agent.ErrClosed), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

func fail(w http.ResponseWriter, status int, err error) { write(w, status, Failure{err.Error()}) }

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client has gone, or has it
}

func notFound(w http.ResponseWriter, r *http.Request) {
	fail(w, http.StatusNotFound, fmt.Errorf("there is no %s %.80s; openapi.json has what there is", r.Method, r.URL.Path))
}

// guard lets those in who have the token. Tokens are compared by their hashes, in a time that says nothing.
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

// limited refuses requests beyond the Rate.
func (s *Server) limited(next http.Handler) http.Handler {
	if s.limit == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.limit.Allow() {
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
				fail(w, http.StatusInternalServerError, errors.New("the server failed; its log says more"))
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
