// Package serve runs an agent behind HTTP and JSON. The agent chooses among options, learns from their rewards, and
// shows what it does. The command is `hyper serve`.
//
//	spec, err := agentfile.Read("pages.json")
//	s, err := serve.New(ctx, serve.Options{Spec: spec, Dir: "agent"})
//	err = http.ListenAndServe("127.0.0.1:8080", s.Handler())
//	err = s.Close()
//
// Three packages below it hold the rest:
//
//	api        the requests and replies, for a client in Go
//	agentfile  the file that describes the agent
//	offline    training and evaluation of agents on logs, without a server
//
// openapi.json describes the requests and replies for other languages. The server sends it on request.
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
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/internal/faults"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// Options configure a server. Zero values mean defaults.
type Options struct {
	Spec api.Spec
	// Dir is the folder of the agent and its log. New opens the agent in it, and creates the folder if it does not
	// exist.
	Dir string
	// Sync defines when the log is on the disk; 0 means durable.Each. KeepLog is the age at which records that the
	// agent's file contains are dropped from the log, when the agent is saved; 0 keeps all records.
	Sync    durable.Sync
	KeepLog time.Duration
	// Hosts lists names or addresses, without a port, that the Host of a request may have. Loopback names, and the
	// address at which a request arrived, are always allowed. Other requests are refused with status 421, because a
	// website could make its own name resolve to this machine (DNS rebinding).
	Hosts []string
	// Token must be sent by clients as `Authorization: Bearer TOKEN`; "" admits all clients.
	Token string
	// From is the address of a server that learns, such as "http://agent:8080"; "" means none. With From, this server
	// only reads: it decides by snapshots of the other server, which it loads in New and Refresh, and learns nothing.
	// It uses the Spec of the other server, and has no log; Dir holds the last snapshot. It sends its Token to the
	// other server, through Client; nil means http.DefaultClient.
	From   string
	Client *http.Client

	MostBytes   int64   // largest size of a request in bytes; 0 means 1 MiB
	MostActions int     // largest number of actions of a decision; 0 means 1,000
	Rate        float64 // most requests per second of all clients with the Token, except /metrics; 0 means no bound

	Pprof bool         // serves Go's profiles at /debug/pprof/
	Log   *slog.Logger // nil means slog.Default()

	patience time.Duration // without a byte from the server of From until a request to it fails; 0 means a minute
}

func (o Options) withDefaults() Options {
	o.MostBytes = cmp.Or(o.MostBytes, 1<<20)
	o.MostActions = cmp.Or(o.MostActions, 1000)
	o.Log = cmp.Or(o.Log, slog.Default())
	o.patience = cmp.Or(o.patience, time.Minute)
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
		errs = append(errs, errors.New("Dir is missing: it is the folder in which the agent is saved"))
	}
	return errors.Join(errs...)
}

// Server is an agent behind HTTP. Its methods are safe for concurrent use.
type Server struct {
	options Options // its Spec is only used by New
	metrics *metrics
	limit   *rate.Limiter // nil means no limit
	recent  recent
	active  *activity
	calib   calibrating
	log     keeper  // nil if the server reads
	source  *source // nil if the server learns
	begun   uint64  // random number that identifies this server in tags

	reloading sync.Mutex
	renamed   int    // number of times that another agent's file has replaced the last one
	changes   uint64 // number of changes of the agent or its arms

	saving  sync.Mutex
	saved   string // the tag of the agent's file
	savedAt time.Time

	swap sync.RWMutex // requests hold it to read now, Reload to replace it
	now  served

	closed atomic.Bool
}

// errClosed is the error of requests and methods after Close.
var errClosed = errors.New("the server is closed")

// keeper is the interface of durable.Log that a server needs.
type keeper interface {
	agent.Journal
	Err() error
	Trim(before time.Time, number uint64) error
	Close() error
}

// served is an agent with its Spec.
type served struct {
	*agent.Agent
	agentfile.Choices
	names    []string // names of all arms, by their numbers
	weighted bool     // whether rewards may have weights
}

// agent returns the agent. It is not replaced before the caller calls done.
func (s *Server) agent() (a served, done func()) {
	s.swap.RLock()
	return s.now, s.swap.RUnlock
}

// New returns a server for the agent that was saved in the folder, with the records that its log has since, or for a
// new agent. The agent has everything that an earlier server has acknowledged, however that server ended. New compiles
// the programs of decisions and rewards, so that the first request does not wait for them. If the Spec has other names
// than the saved agent, New continues as Reload does, which can take minutes. The error joins what is wrong with the
// options or the Spec, or is the error of ctx. The caller calls Save, or with From Refresh, from time to time.
func New(ctx context.Context, o Options) (*Server, error) {
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
		return newReader(ctx, s)
	}
	if _, err := agentfile.Config(o.Spec); err != nil {
		return nil, err
	}
	var err error
	s.log, err = durable.Open(filepath.Join(o.Dir, logFolder), durable.Options{Sync: o.Sync, Log: o.Log})
	if errors.Is(err, durable.ErrLocked) {
		return nil, fmt.Errorf("%s is the folder of another server, or of a program with an agent: stop it, or give another "+
			"folder with --dir: %w", o.Dir, durable.ErrLocked)
	} else if err != nil {
		return nil, err
	}
	if err := s.begin(ctx, o.Spec); err != nil {
		return nil, errors.Join(err, s.log.Close())
	}
	return s, nil
}

// file returns the path of the agent's file.
func (s *Server) file() string { return filepath.Join(s.options.Dir, agentfile.AgentFile) }

// logFolder is the name of the folder of an agent's log.
const logFolder = "log"

// Save saves the agent, with the decisions that wait for their rewards.
func (s *Server) Save() error {
	switch {
	case s.source != nil:
		return errReads
	case s.closed.Load():
		return errClosed
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

// Close stops training, saves the agent and closes its log. All requests must have ended. Close waits for a Reload. It
// may be called again, and then does nothing.
func (s *Server) Close() error {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	if s.closed.Swap(true) {
		return nil
	}
	a, done := s.agent()
	defer done()
	a.Close()
	s.calib.end()
	if s.source != nil {
		return nil
	}
	return errors.Join(s.save(a), s.log.Close())
}

// Handler returns the handler of all requests: see openapi.json.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	guarded := func(pattern string, h http.Handler) { mux.Handle(pattern, s.guard(s.limited(h))) }
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
	return s.recovered(s.own(s.routes(mux)))
}

// health reports whether the agent learns.
func (s *Server) health(context.Context, *struct{}) (*api.Health, error) {
	a, done := s.agent()
	defer done()
	h := &api.Health{Status: "ok", Data: a.Size(), Rounds: a.Rounds()}
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
		return nil, fmt.Errorf("%w: %w; after a restart the agent continues from the records that are safe", agent.ErrLog, err)
	}
	return h, nil
}

func (s *Server) snapshot(context.Context, *struct{}) (*api.SnapshotReply, error) {
	if err := s.Save(); err != nil {
		return nil, err
	}
	a, done := s.agent()
	defer done()
	return &api.SnapshotReply{File: s.file(), Data: a.Size()}, nil
}

func (s *Server) spec(context.Context, *struct{}) (*api.Spec, error) {
	a, done := s.agent()
	defer done()
	return &a.Spec, nil
}
