// Package serve is an agent behind HTTP and JSON: it decides among options, learns from their rewards, and shows what
// it does. The command is `hyper serve`; the API is in openapi.json, which the server hands out.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
)

// Options say how an agent is served. Zeros are defaults.
type Options struct {
	Spec Spec
	// Dir is where the agent is saved, with its log, and where it is found again; it is made if it is not there.
	Dir string
	// Sync says when the log is on the disk; 0 is durable.Each. KeepLog is the age at which records that the agent's file
	// has are dropped from it, when the agent is saved; 0 keeps all.
	Sync    durable.Sync
	KeepLog time.Duration
	// Hosts are names, or addresses, by which requests may call the server in their Host, without a port. The names of
	// loopback, and the address that a request came to, are names of it without being here. Requests of other names are
	// refused: see own.
	Hosts []string
	// Token is what clients must send as `Authorization: Bearer TOKEN`; "" lets all in.
	Token string
	// From is the address of a server that learns, as "http://agent:8080"; "" is none. This one then reads: it decides by
	// the snapshots of the other, which it takes at New and Refresh, and learns nothing. Its Spec is the other's, it has
	// no log, and Dir is where the last snapshot is. It sends its Token there, by Client; nil is http.DefaultClient.
	From   string
	Client *http.Client

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
	if o.KeepLog < 0 {
		errs = append(errs, fmt.Errorf("KeepLog must not be negative, got %v", o.KeepLog))
	}
	for _, host := range o.Hosts {
		errs = append(errs, checkHost(host))
	}
	if o.From != "" {
		errs = append(errs, checkFrom(o.From))
	}
	if o.Dir == "" {
		errs = append(errs, errors.New("Dir is missing: where is the agent to be saved?"))
	}
	return errors.Join(errs...)
}

// Server is an agent behind HTTP. Its methods are safe for concurrent use.
type Server struct {
	options Options // but for the Spec
	metrics *metrics
	limit   *rate.Limiter // nil is none
	recent  recent
	active  *activity
	calib   calibrating
	log     keeper  // nil where the server reads
	source  *source // nil where it learns
	begun   uint64  // names this server in tags

	reloading sync.Mutex
	renamed   int    // how often another agent's file has taken the place of the last one's
	changes   uint64 // how often the agent or its arms have changed

	saving  sync.Mutex
	saved   string // the tag of the agent's file
	savedAt time.Time

	swap sync.RWMutex // requests read the agent, Reload changes it
	now  served
}

// keeper is a durable.Log.
type keeper interface {
	agent.Journal
	Err() error
	Trim(before time.Time, number uint64) error
	Close() error
}

// served is an agent with the Spec that it is of.
type served struct {
	*agent.Agent
	spec     Spec
	names    []string // of all arms, by their numbers
	places   []int    // the number of each of the Spec's arms
	whole    bool     // whether these are all, in the order of their numbers
	weighted bool     // whether rewards may have weights
}

// agent holds the agent until done.
func (s *Server) agent() (a served, done func()) {
	s.swap.RLock()
	return s.now, s.swap.RUnlock
}

// New returns a server of the agent that was saved in the folder, with what its log has since, or of a new one: what
// a server has answered is there, however the server ended. New compiles what decisions and rewards run, so that the
// first request does not wait for that. The error joins what is wrong with the options or the Spec.
func New(o Options) (*Server, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := &Server{options: o, begun: rand.Uint64(), active: newActivity(time.Now)}
	if o.Rate > 0 {
		s.limit = rate.NewLimiter(rate.Limit(o.Rate), int(max(o.Rate, 1)))
	}
	s.metrics = newMetrics(s)
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	if o.From != "" {
		return newReader(s)
	}
	if _, err := o.Spec.Config(); err != nil {
		return nil, err
	}
	var err error
	if s.log, err = durable.Open(filepath.Join(o.Dir, logFolder), durable.Options{Sync: o.Sync, Log: o.Log}); err != nil {
		return nil, err
	}
	if err := s.begin(o.Spec); err != nil {
		return nil, errors.Join(err, s.log.Close())
	}
	return s, nil
}

// agentFile is where the agent is saved, and logFolder its log.
const (
	agentFile = "agent"
	logFolder = "log"
)

// file is where the agent is saved.
func (s *Server) file() string { return filepath.Join(s.options.Dir, agentFile) }

// Save saves the agent, with the decisions that wait for their rewards.
func (s *Server) Save() error {
	if s.source != nil {
		return errReads
	}
	a, done := s.agent()
	defer done()
	return s.save(a)
}

func (s *Server) save(a served) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	before, tag := s.log.Next(), s.tag(a)
	if err := a.Save(s.file()); err != nil {
		return err
	}
	s.saved, s.savedAt = tag, time.Now()
	if s.options.KeepLog == 0 {
		return nil
	}
	return s.log.Trim(time.Now().Add(-s.options.KeepLog), before)
}

// Close ends training, saves the agent and closes its log. Requests must have ended.
func (s *Server) Close() error {
	a, done := s.agent()
	defer done()
	a.Close()
	s.calib.end()
	if s.source != nil {
		return nil
	}
	return errors.Join(s.save(a), s.log.Close())
}

// Handler answers requests: see openapi.json.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	guarded := func(pattern string, h http.Handler) { mux.Handle(pattern, s.guard(h)) }
	guarded("POST /v1/decide", answer(s, "decide", s.decide))
	guarded("POST /v1/explain", answer(s, "explain", s.explain))
	guarded("POST /v1/reward", answer(s, "reward", s.reward))
	guarded("POST /v1/shown", answer(s, "shown", s.shown))
	guarded("POST /v1/snapshot", answer(s, "snapshot", s.snapshot))
	guarded("GET /v1/snapshot", http.HandlerFunc(s.download))
	guarded("GET /v1/spec", answer(s, "spec", s.spec))
	guarded("GET /v1/activity", answer(s, "activity", s.activity))
	guarded("GET /v1/diagnostics", answer(s, "diagnostics", s.diagnostics))
	guarded("GET /metrics", s.metrics.handler())
	if s.options.Pprof {
		guarded("GET /debug/pprof/", http.HandlerFunc(pprof.Index))
		guarded("GET /debug/pprof/profile", http.HandlerFunc(pprof.Profile))
		guarded("GET /debug/pprof/trace", http.HandlerFunc(pprof.Trace))
	}
	mux.HandleFunc("GET /v1/health", answer(s, "health", s.health)) // for probes, which have no token
	mux.HandleFunc("GET /{$}", page)                                // asks for the token
	mux.HandleFunc("GET /openapi.json", openapi)
	return s.recovered(s.own(s.limited(s.routes(mux))))
}

// health tells whether the agent learns.
func (s *Server) health(context.Context, *struct{}) (*Health, error) {
	a, done := s.agent()
	defer done()
	h := &Health{Status: "ok", Data: a.Size(), Rounds: a.Rounds()}
	if err := a.LearnerError(); err != nil {
		h.Status, h.Error = "not learning", err.Error()
	}
	if err := s.source.last(); err != nil {
		h.Status, h.Error = "not following", err.Error()
	}
	if s.source != nil {
		return h, nil
	}
	if err := s.log.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w; a restart goes on from what is safe", agent.ErrLog, err)
	}
	return h, nil
}

// Health is the answer of /v1/health.
type Health struct {
	Status string `json:"status"` // ok, not learning, or, where it reads from another server, not following
	Data   int    `json:"data"`   // rewards learned from
	Rounds int    `json:"rounds"` // of training
	Error  string `json:"error,omitempty"`
}

func (s *Server) snapshot(context.Context, *struct{}) (*Saved, error) {
	if err := s.Save(); err != nil {
		return nil, err
	}
	a, done := s.agent()
	defer done()
	return &Saved{File: s.file(), Data: a.Size()}, nil
}

// Saved is the answer of /v1/snapshot.
type Saved struct {
	File string `json:"file"`
	Data int    `json:"data"`
}

func (s *Server) spec(context.Context, *struct{}) (*Spec, error) {
	a, done := s.agent()
	defer done()
	return &a.spec, nil
}
