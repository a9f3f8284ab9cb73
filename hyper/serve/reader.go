package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// A server that reads decides by the snapshots of another server, which learns: see Options.From.

// errReads is the answer of a server that reads to requests that only a server that learns can serve.
var errReads = errors.New("this server only reads")

// source is the server that this server reads from.
type source struct {
	url, token string
	client     *http.Client
	patience   time.Duration

	taking sync.Mutex // held while a snapshot is taken
	tag    string     // tag of the present snapshot

	telling sync.Mutex
	err     error // error of the last refresh
}

// mostSnapshot is the largest size of a snapshot in bytes.
const mostSnapshot = 8 << 30

func checkFrom(from string) error {
	u, err := url.Parse(from)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("From must be the address of a server that learns, such as http://agent:8080, got %q", from)
	}
	return nil
}

// newReader is New for a server that reads. If the source does not answer, the server starts with its last snapshot, if
// there is one.
func newReader(ctx context.Context, s *Server) (*Server, error) {
	o := s.options
	if _, err := os.Stat(filepath.Join(o.Dir, logFolder)); err == nil {
		return nil, fmt.Errorf("%s is the folder of a server that learns: give another folder", o.Dir)
	}
	s.source = &source{url: strings.TrimSuffix(o.From, "/"), token: o.Token,
		client: cmp.Or(o.Client, http.DefaultClient), patience: o.patience}
	err := s.Refresh(ctx)
	if err != nil && s.now.Agent == nil {
		kept := s.openSnapshot()
		if errors.Is(kept, fs.ErrNotExist) {
			return nil, err
		}
		if kept != nil {
			return nil, errors.Join(err, kept)
		}
		o.Log.Warn("starts with the last snapshot", "error", err)
	}
	return s, nil
}

// openSnapshot opens the snapshot in the folder.
func (s *Server) openSnapshot() error {
	spec, err := agentfile.OfFolder(s.options.Dir)
	if err != nil {
		return err
	}
	s.now, err = reader(spec, s.file())
	return err
}

// reader returns an agent that reads a file, with its decisions compiled.
func reader(spec api.Spec, file string) (out served, err error) {
	f, err := agent.ReadFile(file)
	if err != nil {
		return out, err
	}
	names := f.Arms.Names
	if names == nil {
		names = spec.Arms
	}
	made := names
	if f.Arms.First > 0 {
		made = names[:f.Arms.First]
	}
	c, err := agentfile.ConfigWithArms(spec, made)
	if err != nil {
		return out, err
	}
	if out.Agent, err = agent.Reader(c, file, rand.Uint64()); err != nil {
		return out, err
	}
	if out, err = out.with(spec, names); err != nil {
		return out, err
	}
	return out, out.Warmup(max(len(spec.Arms), 1))
}

// Refresh loads the source's snapshot, if the source has learned since the last one. After an error the server keeps
// its last snapshot. It needs a server with Options.From.
func (s *Server) Refresh(ctx context.Context) error {
	if s.source == nil {
		return errors.New("the server does not read from another server")
	}
	s.source.taking.Lock()
	defer s.source.taking.Unlock()
	if s.closed.Load() {
		return errClosed
	}
	err := s.refresh(ctx)
	s.source.telling.Lock()
	defer s.source.telling.Unlock()
	s.source.err = err
	return err
}

func (s *Server) refresh(ctx context.Context) error {
	file := s.file() + ".new"
	defer os.Remove(file)
	tag, err := s.source.snapshot(ctx, file)
	if err != nil || tag == s.source.tag {
		return err
	}
	var spec api.Spec
	if err := s.source.spec(ctx, &spec); err != nil {
		return err
	}
	if s.now.Agent != nil && agentfile.Equal(spec, s.now.Spec) {
		err = s.now.Refresh(file)
	} else {
		err = s.follow(spec, file)
	}
	if err == nil {
		err = os.Rename(file, s.file())
	}
	if err == nil {
		s.source.tag = tag
	}
	return err
}

// follow continues with another agent.
func (s *Server) follow(spec api.Spec, file string) error {
	next, err := reader(spec, file)
	if err == nil {
		err = agentfile.Save(s.options.Dir, spec)
	}
	if err != nil {
		return err
	}
	s.swap.Lock()
	defer s.swap.Unlock()
	s.recent.forget()
	s.now = next
	return nil
}

// get sends a GET request to the source. The caller closes the body of the answer. The request fails if the source
// sends nothing for too long, and may otherwise take any time.
func (o *source) get(ctx context.Context, path, tag string) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(o.patience, func() { cancel(fmt.Errorf("%s has sent nothing for %v", o.url, o.patience)) })
	w, err := o.ask(ctx, path, tag)
	if err != nil {
		late.Stop()
		err = cmp.Or(context.Cause(ctx), err)
		cancel(nil)
		return nil, err
	}
	w.Body = awaited{w.Body, ctx, cancel, late, o.patience}
	return w, nil
}

// awaited is the body of an answer, whose parts must not come too late.
type awaited struct {
	io.ReadCloser
	ctx      context.Context
	cancel   context.CancelCauseFunc
	late     *time.Timer
	patience time.Duration
}

func (b awaited) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.late.Reset(b.patience)
	if err != nil && err != io.EOF {
		err = cmp.Or(context.Cause(b.ctx), err)
	}
	return n, err
}

func (b awaited) Close() error {
	b.late.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}

// ask sends a GET request, and returns the answer if its status is 200, or 304 for a tag.
func (o *source) ask(ctx context.Context, path, tag string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url+path, nil)
	if err != nil {
		return nil, err
	}
	if o.token != "" {
		r.Header.Set("Authorization", "Bearer "+o.token)
	}
	if tag != "" {
		r.Header.Set("If-None-Match", tag)
	}
	w, err := o.client.Do(r)
	if err != nil {
		return nil, err
	}
	if w.StatusCode == http.StatusOK || w.StatusCode == http.StatusNotModified && tag != "" {
		return w, nil
	}
	defer w.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(w.Body, 1000)) // the explanation, as far as it can be read
	return nil, fmt.Errorf("%s%s answers %s: %s", o.url, path, w.Status, strings.TrimSpace(string(text)))
}

// snapshot writes the source's snapshot to a file, unless it is the present one, and returns its tag.
func (o *source) snapshot(ctx context.Context, file string) (tag string, err error) {
	w, err := o.get(ctx, "/v1/snapshot", o.tag)
	if err != nil {
		return "", err
	}
	defer w.Body.Close()
	if w.StatusCode == http.StatusNotModified {
		return o.tag, nil
	}
	if tag = w.Header.Get("ETag"); tag == "" {
		return "", fmt.Errorf("%s/v1/snapshot is not a snapshot of hyper serve: it has no ETag", o.url)
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	n, err := io.Copy(f, io.LimitReader(w.Body, mostSnapshot+1))
	if err == nil && n > mostSnapshot {
		err = fmt.Errorf("the snapshot of %s has more than %d bytes", o.url, int64(mostSnapshot))
	}
	return tag, errors.Join(err, f.Close())
}

func (o *source) spec(ctx context.Context, spec *api.Spec) error {
	w, err := o.get(ctx, "/v1/spec", "")
	if err != nil {
		return err
	}
	defer w.Body.Close()
	if err := agentfile.Decode(io.LimitReader(w.Body, agentfile.MaxBytes), spec); err != nil {
		return fmt.Errorf("%s/v1/spec: %w", o.url, err)
	}
	_, err = agentfile.Config(*spec)
	return err
}

// last returns the error of the last refresh.
func (o *source) last() error {
	if o == nil {
		return nil
	}
	o.telling.Lock()
	defer o.telling.Unlock()
	return o.err
}

// download sends the agent's file to a server that reads. Its tag changes when the agent has learned.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	status := http.StatusOK
	defer func() { s.metrics.answered("download", status, time.Since(begun)) }()
	f, tag, err := s.latest()
	if err != nil {
		status = statusOf(err)
		fail(w, status, err)
		return
	}
	defer f.Close()
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // a large snapshot takes longer than other answers
	w.Header().Set("ETag", tag)
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, f)
}

// latest opens the agent's file and returns its tag. The file misses at most one second of learning.
func (s *Server) latest() (f *os.File, tag string, err error) {
	if o := s.source; o != nil {
		o.taking.Lock()
		defer o.taking.Unlock()
		f, err = os.Open(s.file())
		return f, o.tag, err
	}
	a, done := s.agent()
	defer done()
	if s.outdated(a) {
		if err := s.save(a); err != nil {
			return nil, "", err
		}
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	f, err = os.Open(s.file())
	return f, s.saved, err
}

// outdated reports whether the agent has learned since it was saved, if that was a second ago or more.
func (s *Server) outdated(a served) bool {
	s.saving.Lock()
	defer s.saving.Unlock()
	return s.saved == "" || s.saved != s.tag(a) && time.Since(s.savedAt) > time.Second
}

// tag returns a name of what the agent has learned.
func (s *Server) tag(a served) string {
	return fmt.Sprintf(`"%x-%d-%d-%d-%d-%d"`, s.begun, s.changes, a.Size(), a.Rounds(), a.Alarms().Count,
		a.Settlements().Late)
}
