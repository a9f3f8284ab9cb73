// Package serve is an agent behind HTTP and JSON: it decides among options, learns from their rewards, and shows what
// it does. The command is `hyper serve`; the API is in openapi.json, which the server hands out.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
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

// begin opens the agent of the folder, and goes on with a Spec of other names as Reload does.
func (s *Server) begin(spec Spec) error {
	last, err := lastSpec(s.options.Dir, spec)
	if err != nil {
		return err
	}
	as := spec
	if !alike(spec, last) && !s.fits(spec) { // what was changed when the server ended may be there
		as = last
	}
	as.Like = last.Like // what is new in it is to be done
	if s.now, err = s.open(as); err != nil {
		return err
	}
	if same(s.now.spec, spec) {
		return nil
	}
	if err := s.Reload(context.Background(), spec); err != nil {
		s.now.Close()
		return err
	}
	return nil
}

// open opens the agent from its file and log, with the arms that these have, and compiles what it runs.
func (s *Server) open(spec Spec) (out served, err error) {
	made, from, err := s.made(spec)
	if err != nil {
		return out, err
	}
	c, err := spec.of(made).config()
	if err != nil {
		return out, err
	}
	if out.Agent, err = agent.Open(c, s.file(), s.log); err != nil {
		return out, err
	}
	names := out.Arms().Names
	if names == nil {
		names = made
	}
	spec.Arms = nil
	for _, arm := range out.Arms().Offered {
		spec.Arms = append(spec.Arms, names[arm])
	}
	if out, err = out.with(spec, names); err == nil {
		err = out.Warmup(max(len(spec.Arms), 1))
	}
	if err == nil {
		err = s.means(spec, from)
	}
	if err == nil {
		err = leave(s.options.Dir, spec)
	}
	return out, err
}

// with is the agent with a Spec, and the names of all of its arms by their numbers.
func (a served) with(spec Spec, names []string) (served, error) {
	set := a.Arms()
	a.spec, a.names, a.places = spec, names, nil
	for _, name := range spec.Arms {
		at := slices.Index(names, name)
		if at < 0 || at >= len(set.Like) {
			return a, fmt.Errorf("the agent has no arm %.40q; its arms are %.200s", name, strings.Join(names, ", "))
		}
		a.places = append(a.places, at)
	}
	a.whole = set.Whole() && slices.Equal(a.places, set.Offered)
	c, err := spec.of(names).config()
	a.weighted = c.Learner.Train.Weighted
	return a, err
}

// made returns the arms with which the agent of the folder was made, and the first record that it has not seen.
func (s *Server) made(spec Spec) (arms []string, from uint64, err error) {
	last, err := lastSpec(s.options.Dir, spec)
	if err != nil {
		return nil, 0, err
	}
	f, err := agent.ReadFile(s.file())
	switch {
	case err == nil && len(f.Arms.Names) > 0:
		return f.Arms.Names[:f.Arms.First], f.Log, nil
	case errors.Is(err, agent.ErrDamaged): // which Open says, with what to do
		return last.Arms, s.log.Next(), nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, 0, err
	}
	for r, err := range s.log.All(f.Log) {
		if err != nil {
			return nil, 0, err
		}
		if r.Arms != nil && len(r.Arms.Names) >= r.Arms.Was {
			return r.Arms.Names[:r.Arms.Was], f.Log, nil
		}
	}
	return last.Arms, f.Log, nil
}

// fits reports whether the agent of the folder is of a Spec, but for its arms.
func (s *Server) fits(spec Spec) bool {
	made, _, err := s.made(spec)
	if err != nil {
		return false
	}
	c, err := spec.of(made).config()
	return err == nil && agent.Check(c, s.file()) == nil
}

// means says in the log what the numbers of a Spec mean, where its records from a number on have others as the last: a
// server that ended while it changed them has written that.
func (s *Server) means(spec Spec, from uint64) error {
	last := spec
	for r, err := range s.log.All(from) {
		if err != nil {
			return err
		}
		if f := r.Features; f != nil {
			last.Context, last.Action = featuresOf(f.Context), featuresOf(f.Action)
		}
	}
	return s.says(spec, last)
}

// says says in the log what the numbers of a Spec mean, unless it is what those of the last do.
func (s *Server) says(spec, last Spec) error {
	if alike(spec, last) {
		return nil
	}
	return s.append(journal.Record{Features: &journal.Features{Context: named(spec.Context), Action: named(spec.Action),
		WasContext: named(last.Context), WasAction: named(last.Action)}})
}

// append appends a record to the log, and waits for the disk.
func (s *Server) append(r journal.Record) error {
	r.Time = time.Now().UnixNano()
	_, wait, err := s.log.Append(r)
	if err == nil {
		err = wait()
	}
	return err
}

// Reload goes on with another Spec. One that differs in what says how the agent runs (pending, expire, reward,
// background and backend, and a larger capacity) goes on with the agent that there is; so does one of other arms, where
// the agent has a belief for each: see [agent.Agent.ChangeArms]. Another agent, or one of other features, first learns
// from the log, while the last one decides: see [Replay]. Requests wait while one takes the place of the other. The
// error says what is wrong, or is that of ctx, and the server goes on as it was.
func (s *Server) Reload(ctx context.Context, spec Spec) error {
	if s.source != nil {
		return errReads
	}
	s.reloading.Lock()
	defer s.reloading.Unlock()
	if _, err := spec.Config(); err != nil {
		return err
	}
	now := s.now
	if _, err := lastSpec(s.options.Dir, spec); err != nil {
		return err
	}
	set, names := now.Arms(), now.names
	next, err := spec.armSet(set, names, now.spec)
	if err != nil {
		return err
	}
	made := spec
	if len(spec.Arms) > 0 {
		made = spec.of(names[:set.First])
	}
	c, err := made.config()
	if err != nil {
		return err
	}
	if err := s.Save(); err != nil {
		return err
	}
	err = agent.Check(c, s.file())
	other, grows := errors.Is(err, agent.ErrOther), len(next.Like) > len(set.Like) && !c.AddsArms()
	switch {
	case other || grows || !alike(spec, now.spec):
		return s.another(ctx, spec, grows || !alike(spec, now.spec))
	case err != nil:
		return err
	}
	if !slices.Equal(next.Offered, set.Offered) || len(next.Like) > len(set.Like) {
		if err := s.changeArms(spec, next); err != nil {
			return err
		}
	}
	if same(spec, s.now.spec) {
		return leave(s.options.Dir, spec)
	}
	return s.goesOn(spec, func() error { return nil })
}

// changeArms goes on with other arms. Requests wait while the agent changes, and no longer.
func (s *Server) changeArms(spec Spec, next agent.ArmSet) error {
	change, err := s.now.PrepareArms(next)
	if err != nil {
		return err
	}
	last := s.now.spec
	last.Arms, last.Like = spec.Arms, spec.Like
	if err := s.swapArms(last, next, change); err != nil {
		return err
	}
	if err := s.Save(); err != nil { // before its names are those of the folder
		return err
	}
	return leave(s.options.Dir, last)
}

func (s *Server) swapArms(spec Spec, next agent.ArmSet, change func() error) (err error) {
	s.swap.Lock()
	defer s.swap.Unlock()
	if err := change(); err != nil {
		return err
	}
	s.changes++
	s.calib.end()
	s.recent.forget()
	s.now, err = s.now.with(spec, next.Names)
	return err
}

// another goes on with another agent, which learns from the log. anew says that the last one would do, but for its
// names; the log must then have all that it knows.
func (s *Server) another(ctx context.Context, spec Spec, anew bool) error {
	seen, now := s.log.Next(), s.now
	log, err := OpenLog(func() Records { return s.log.All(0) }, now.spec, now.names)
	if err != nil {
		return err
	}
	if anew && log.first > 0 {
		return fmt.Errorf("the agent must learn anew from the log to have other arms or features, and the log has dropped its "+
			"records before record %d (--keep-log): keep arms and names as they are, or let `hyper replay %s --agent "+
			"FILE.json --to NEW` learn from what is left, and serve the new folder", log.first, s.options.Dir)
	}
	next, err := Replay(ctx, log, spec, seen)
	if err != nil {
		return err
	}
	if set := next.Arms(); set.First > 0 && set.Names == nil {
		set.Names = log.named(spec, len(set.Like))
		if err := next.ChangeArms(set); err != nil {
			return err
		}
	}
	return s.goesOn(spec, func() error { return s.succeed(ctx, next, spec, seen) })
}

// goesOn opens the agent anew by a Spec, after something is done while no agent uses the log. After an error the server
// goes on as it was.
func (s *Server) goesOn(spec Spec, do func() error) error {
	s.swap.Lock()
	defer s.swap.Unlock()
	if err := s.save(s.now); err != nil {
		return err
	}
	s.calib.end()
	s.now.Close() // its learner must write nothing to the log beside the next agent's
	renamed := s.renamed
	err := do()
	if err == nil {
		var out served
		if out, err = s.open(spec); err == nil {
			s.changes++
			s.now = out
			return nil
		}
	}
	if s.renamed != renamed {
		err = errors.Join(err, os.Rename(s.file()+".last", s.file()))
	}
	again, wrong := s.open(s.now.spec)
	if wrong == nil {
		s.now = again
	}
	return errors.Join(err, wrong)
}

// succeed puts the file of an agent, which has learned from the log before a record, in the place of the last one's,
// which remains as FILE.last. At any time there is a file that the log goes on from; after an error it is the last
// one's.
func (s *Server) succeed(ctx context.Context, next *agent.Agent, spec Spec, seen uint64) error {
	defer next.Close()
	now := s.now
	later := &Log{all: func() Records { return s.log.All(seen) }, arms: next.Arms().Names, changed: true,
		context: now.spec.Context, action: now.spec.Action}
	if err := learnFrom(ctx, next, later.fitted(spec), s.log.Next(), false); err != nil {
		return err
	}
	if err := next.Continue(s.log); err != nil {
		return err
	}
	set := next.Arms()
	if !slices.Equal(set.Names, now.names) || !slices.Equal(set.Offered, now.places) {
		if err := s.append(journal.Record{Arms: &journal.Arms{Like: set.Like, Offered: set.Offered, Names: set.Names,
			Was: len(now.names), Anew: true}}); err != nil {
			return err
		}
	}
	if err := s.says(spec, now.spec); err != nil {
		return err
	}
	file := s.file()
	if err := next.Save(file + ".next"); err != nil {
		return err
	}
	if err := os.Remove(file + ".last"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Link(file, file+".last"); err != nil {
		return err
	}
	s.saved = ""
	s.recent.forget()
	if err := os.Rename(file+".next", file); err != nil {
		return err
	}
	s.renamed++
	return leave(s.options.Dir, spec)
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
