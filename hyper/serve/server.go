// Package serve is an agent behind HTTP and JSON: it decides among options, learns from their rewards, and shows what
// it does. The command is `hyper serve`; the API is in openapi.json, which the server hands out.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/time/rate"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Options say how an agent is served. Zeros are defaults.
type Options struct {
	Spec Spec
	// Dir is where the agent is saved, and where it is found again; it is made if it is not there.
	Dir string
	// Token is what clients must send as `Authorization: Bearer TOKEN`; "" lets all in.
	Token string

	MostBytes   int64   // of a request; 0 is 1 MiB
	MostActions int     // of a decision; 0 is 1,000
	Rate        float64 // requests a second that are answered, of all clients together; 0 is no bound

	Pprof bool         // serves Go's profiles at /debug/pprof/
	Log   *slog.Logger // nil is slog.Default()
}

func (o Options) withDefaults() Options {
	o.MostBytes = cmp.Or(o.MostBytes, 1<<20)
	o.MostActions = cmp.Or(o.MostActions, 1000)
	o.Log = cmp.Or(o.Log, slog.Default())
	return o
}

func (o Options) validate() error {
	errs := []error{faults.AtLeast("MostActions", o.MostActions, 1), faults.NotNegative("Rate", o.Rate)}
	if o.MostBytes < 1 {
		errs = append(errs, fmt.Errorf("MostBytes must be at least 1, got %d", o.MostBytes))
	}
	if o.Dir == "" {
		errs = append(errs, errors.New("Dir is missing: where is the agent to be saved?"))
	}
	return errors.Join(errs...)
}

// Server is an agent behind HTTP. Its methods are safe for concurrent use.
type Server struct {
	options Options
	agent   *agent.Agent
	metrics *metrics
	limit   *rate.Limiter // nil is none
	recent  recent

	saving sync.Mutex
}

// New returns a server of the agent that was saved in the folder, or of a new one. It compiles what decisions and
// rewards run, so that the first request does not wait for that. The error joins what is wrong with the options or the
// Spec.
func New(o Options) (*Server, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	c, err := o.Spec.Config()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	s := &Server{options: o}
	if s.agent, err = open(c, s.file()); err != nil {
		return nil, err
	}
	if err := s.agent.Warmup(max(len(o.Spec.Arms), 1)); err != nil {
		return nil, err
	}
	if o.Rate > 0 {
		s.limit = rate.NewLimiter(rate.Limit(o.Rate), int(max(o.Rate, 1)))
	}
	s.metrics = newMetrics(s)
	return s, nil
}

// open loads the agent from a file, or makes it where there is none.
func open(c agent.Config, file string) (*agent.Agent, error) {
	switch _, err := os.Stat(file); {
	case err == nil:
		return agent.Load(c, file)
	case errors.Is(err, os.ErrNotExist):
		return agent.New(c)
	default:
		return nil, err
	}
}

// file is where the agent is saved.
func (s *Server) file() string { return filepath.Join(s.options.Dir, "agent") }

// Save saves the agent, with the decisions that wait for their rewards.
func (s *Server) Save() error {
	s.saving.Lock()
	defer s.saving.Unlock()
	return s.agent.Save(s.file())
}

// Close ends training and saves the agent. Requests that come later are refused.
func (s *Server) Close() error {
	s.agent.Close()
	return s.Save()
}

// Handler answers requests: see openapi.json.
func (s *Server) Handler() http.Handler {
	open, guarded := http.NewServeMux(), http.NewServeMux()
	guarded.HandleFunc("POST /v1/decide", answer(s, "decide", s.decide))
	guarded.HandleFunc("POST /v1/reward", answer(s, "reward", s.reward))
	guarded.HandleFunc("POST /v1/snapshot", answer(s, "snapshot", s.snapshot))
	guarded.HandleFunc("GET /v1/spec", answer(s, "spec", s.spec))
	guarded.HandleFunc("GET /v1/diagnostics", answer(s, "diagnostics", s.diagnostics))
	guarded.Handle("GET /metrics", s.metrics.handler())
	if s.options.Pprof {
		guarded.HandleFunc("GET /debug/pprof/", pprof.Index)
		guarded.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		guarded.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	guarded.HandleFunc("/", notFound)
	open.HandleFunc("GET /v1/health", answer(s, "health", s.health)) // for probes, which have no token
	open.HandleFunc("GET /{$}", page)                                // asks for the token
	open.HandleFunc("GET /openapi.json", openapi)
	open.Handle("/", s.guard(guarded))
	return s.recovered(s.limited(open))
}

// health tells whether the agent learns.
func (s *Server) health(context.Context, *struct{}) (*Health, error) {
	h := &Health{Status: "ok", Data: s.agent.Size(), Rounds: s.agent.Rounds()}
	if err := s.agent.LearnerError(); err != nil {
		h.Status, h.Error = "not learning", err.Error()
	}
	return h, nil
}

// Health is the answer of /v1/health.
type Health struct {
	Status string `json:"status"` // ok, or not learning
	Data   int    `json:"data"`   // rewards learned from
	Rounds int    `json:"rounds"` // of training
	Error  string `json:"error,omitempty"`
}

func (s *Server) snapshot(context.Context, *struct{}) (*Saved, error) {
	if err := s.Save(); err != nil {
		return nil, err
	}
	return &Saved{File: s.file(), Data: s.agent.Size()}, nil
}

// Saved is the answer of /v1/snapshot.
type Saved struct {
	File string `json:"file"`
	Data int    `json:"data"`
}

func (s *Server) spec(context.Context, *struct{}) (*Spec, error) { return &s.options.Spec, nil }
