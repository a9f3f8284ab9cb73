package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/explore"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
	"github.com/hypermodels/hypermodels/hyper/learner"
	"github.com/hypermodels/hypermodels/hyper/train"
)

// memory is a journal in memory, whose appends and waits fail on request.
type memory struct {
	mu          sync.Mutex
	all         [][]byte
	first       int // number of all[0]
	append, get error
}

func (m *memory) Append(records ...journal.Record) (first uint64, wait func() error, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.append != nil {
		return 0, nil, m.append
	}
	first = uint64(m.first + len(m.all))
	for _, r := range records {
		m.all = append(m.all, must.M1(r.Encode()))
	}
	return first, func() error { return m.get }, nil
}

func (m *memory) Next() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return uint64(m.first + len(m.all))
}

func (m *memory) Sync() error { return m.get }

func (m *memory) All(from uint64) iter.Seq2[journal.Record, error] {
	m.mu.Lock()
	all := slices.Clone(m.all)
	m.mu.Unlock()
	return func(yield func(journal.Record, error) bool) {
		for i, data := range all {
			r, err := journal.Decode(data)
			r.Number = uint64(m.first + i)
			if r.Number >= from && !yield(r, err) {
				return
			}
		}
	}
}

// logged has agents with different learning and encoding.
func logged() map[string]agent.Config {
	few := agent.Config{Backend: backend.Go, Seed: 3}
	few.Learner.Policy = explore.Thompson{N: 3}
	context := few.Contextual(3, 4)
	context.Pending = 40
	neural := few.Neural(3, 4)
	neural.Encoding = &agent.Encoding{Context: 2, Action: 1, Standardize: true}
	neural.Learner.Train.Capacity, neural.Replay, neural.Learner.Train.Steps = 16, agent.Reservoir, 2
	behind := neural
	behind.Background = &agent.Background{CPU: 1, Rounds: 2}
	return map[string]agent.Config{"arms": few.Arms(4), "contextual": context, "network": neural, "background": behind}
}

// menu returns a menu that fits the agent.
func menu(r *rand.Rand, c agent.Config) (m agent.Menu) {
	if c.Encoding == nil {
		return m
	}
	number := func() float32 { return float32(3 + 2*r.NormFloat64()) }
	for range c.Encoding.Context {
		m.Context = append(m.Context, number())
	}
	if c.Encoding.Arms > 0 {
		m.Arms = r.Perm(c.Encoding.Arms)[:1+r.IntN(c.Encoding.Arms)]
		return m
	}
	for range 1 + r.IntN(5) {
		m.Actions = append(m.Actions, []float32{number()})
	}
	return m
}

// live decides and gives feedback from several goroutines, trains and adds data.
func live(t *testing.T, a *agent.Agent, c agent.Config, seed uint64, periods int) {
	t.Helper()
	var all sync.WaitGroup
	for w := range 3 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(w)))
			for i := range periods {
				d, err := a.Decide(context.Background(), menu(r, c))
				if err != nil {
					t.Error(err)
					return
				}
				if r.IntN(4) > 0 {
					f := agent.Feedback{ID: d.ID, Reward: float32(r.NormFloat64()) + float32(d.Action)}
					// On a busy machine the other goroutines may make Pending decisions before this feedback.
					if err := a.Observe(context.Background(), f, f); err != nil && !errors.Is(err, agent.ErrExpired) {
						t.Error(err)
					}
				}
				if i%7 == 6 && w == 0 {
					x := make([]float32, max(c.Features, 1))
					if err := errors.Join(a.Add(x, 1), a.Learn(context.Background(), 2)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
}

// same reports whether agents are equal to the bit.
func same(t *testing.T, a, b map[string]string) {
	t.Helper()
	for name := range a {
		if a[name] != b[name] {
			t.Errorf("part %s of the agents differs: %.300q\n%.300q", name, a[name], b[name])
		}
	}
}

// If the program ends at any time, an agent continues as the agent that did what the log says. Agents from the file and
// the rest of the log, from the whole log, and the agent that continued are equal to the bit, and make the same
// decisions.
func TestOpenAfterTheEnd(t *testing.T) {
	for name, c := range logged() {
		t.Run(name, func(t *testing.T) {
			path, log := filepath.Join(t.TempDir(), "agent"), &memory{}
			a := must.M1(agent.Open(c, path, log))
			live(t, a, c, 1, 12)
			var saving sync.WaitGroup
			saving.Go(func() { // a file of the midst
				time.Sleep(5 * time.Millisecond)
				must.M(a.Save(path))
			})
			live(t, a, c, 2, 12)
			saving.Wait()
			a.Close()

			whole := must.M1(agent.Open(c, filepath.Join(t.TempDir(), "none"), log))
			rest := must.M1(agent.Open(c, path, log))
			whole.Close()
			rest.Close()
			if c.Background == nil { // otherwise they have gone on to train
				same(t, a.Whole(), whole.Whole())
				same(t, a.Whole(), rest.Whole())
			}
			r := rand.New(rand.NewPCG(5, 5))
			for range 5 {
				m := menu(r, c)
				d, e := must.M1(whole.Decide(context.Background(), m)), must.M1(rest.Decide(context.Background(), m))
				if c.Background == nil && !reflect.DeepEqual(d.Nameless(), e.Nameless()) {
					t.Errorf("decisions: %+v and %+v, want equal ones", d, e)
				}
			}
		})
	}
}

// A log that is cut after any record gives the agent as it was after that record.
func TestOpenAtAnyRecord(t *testing.T) {
	c := logged()["contextual"]
	log := &memory{}
	a := must.M1(agent.Open(c, filepath.Join(t.TempDir(), "agent"), log))
	live(t, a, c, 4, 5)
	one := must.M1(agent.New(c))
	for n, data := range log.all {
		r := must.M1(journal.Decode(data))
		must.M(one.Apply(r))
		cut := &memory{all: slices.Clone(log.all[:n+1])}
		again := must.M1(agent.Open(c, filepath.Join(t.TempDir(), "agent"), cut))
		if same(t, one.Whole(), again.Whole()); t.Failed() {
			t.Fatalf("the agents differ after %d records", n+1)
		}
	}
	same(t, a.Whole(), must.M1(agent.Open(c, filepath.Join(t.TempDir(), "agent"), log)).Whole())
}

// An event that the log refuses has not happened, and an event that the log cannot make safe is not acknowledged.
func TestLogThatFails(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, b string) {
		c := logged()["arms"]
		c.Backend = b
		path, log, broken := filepath.Join(t.TempDir(), "agent"), &memory{}, errors.New("the disk is full")
		a := must.M1(agent.Open(c, path, log))
		d := must.M1(a.Act(context.Background(), nil))
		before := a.Whole()
		log.append = broken
		_, err := a.Act(context.Background(), nil)
		for what, err := range map[string]error{"Act": err, "Add": a.Add([]float32{1}, 1),
			"Observe": a.Observe(context.Background(), agent.Feedback{ID: d.ID, Reward: 1})} {
			if !errors.Is(err, agent.ErrLog) || !errors.Is(err, broken) {
				t.Errorf("%s: got error %v, want ErrLog with the cause", what, err)
			}
		}
		same(t, before, a.Whole())
		log.append = nil
		must.M(a.Observe(context.Background(), agent.Feedback{ID: d.ID, Reward: 1}))
		log.get = broken
		_, err = a.Act(context.Background(), nil)
		for what, err := range map[string]error{"Act": err, "Add": a.Add([]float32{1}, 1), "Save": a.Save(path),
			"a duplicate": a.Observe(context.Background(), agent.Feedback{ID: d.ID, Reward: 1})} {
			if !errors.Is(err, agent.ErrLog) || !errors.Is(err, broken) {
				t.Errorf("%s: got error %v, want ErrLog with the cause", what, err)
			}
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("the file has records that are not on the disk")
		}
	})
}

// A log and a file that do not belong together are refused.
func TestOpenRefuses(t *testing.T) {
	c := logged()["arms"]
	path, log := filepath.Join(t.TempDir(), "agent"), &memory{}
	a := must.M1(agent.Open(c, path, log))
	live(t, a, c, 1, 5)
	must.M(a.Save(path))
	alone := filepath.Join(t.TempDir(), "alone")
	must.M(must.M1(agent.New(c)).Save(alone))
	damaged := &memory{all: slices.Clone(log.all)}
	damaged.all[3] = bytes.Replace(damaged.all[3], damaged.all[3][5:8], []byte("..."), 1)
	none := filepath.Join(t.TempDir(), "none")
	for want, open := range map[string]func() (*agent.Agent, error){
		"and the log ends at 0": func() (*agent.Agent, error) { return agent.Open(c, path, &memory{}) },
		"was saved without":     func() (*agent.Agent, error) { return agent.Open(c, alone, log) },
		"records 0 to 1 are": func() (*agent.Agent, error) {
			return agent.Open(c, none,
				&memory{all: log.all[2:], first: 2})
		},
		"the checksum is wrong":          func() (*agent.Agent, error) { return agent.Open(c, none, damaged) },
		"with a different configuration": func() (*agent.Agent, error) { return agent.Open(logged()["network"], path, log) },
		"no such decision": func() (*agent.Agent, error) {
			l := &memory{}
			must.M2(l.Append(journal.Record{Feedback: &journal.Feedback{ID: "7-00000001"}}))
			return agent.Open(c, none, l)
		},
	} {
		if _, err := open(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := a.Apply(journal.Record{}); err == nil || !strings.Contains(err.Error(), "log of its own") {
		t.Error(err)
	}
	must.M1(agent.Open(c, alone, &memory{}))
}

// An agent of another kind learns from a log what its agent was told: here the means of two arms.
func TestReplayByAnother(t *testing.T) {
	c, log := logged()["contextual"], &memory{}
	a := must.M1(agent.Open(c, filepath.Join(t.TempDir(), "agent"), log))
	live(t, a, c, 1, 20)
	other := c
	other.Learner = learner.Learner{Belief: agent.Config{}.Linear(7).Learner.Belief, Policy: explore.Thompson{N: 5},
		NoiseVariance: 1, Train: train.Config{Integrate: train.Exact}}
	other.Encoding = &agent.Encoding{Context: 4, Arms: 3}
	other.Features = 7
	b := must.M1(agent.New(other))
	for r, err := range log.All(0) {
		must.M(err)
		if r.Trained != nil || r.Datum != nil {
			continue
		}
		if r.Decision != nil {
			r.Decision.Input = nil
		}
		must.M(b.Apply(r))
	}
	if got, want := b.Size(), a.Size()-2; got != want { // two data were added by hand
		t.Errorf("%d data, want %d", got, want)
	}
}

// The log of the agent is on disk: see package durable.
func ExampleOpen() {
	dir := must.M1(os.MkdirTemp("", "agent"))
	defer os.RemoveAll(dir)
	log := must.M1(durable.Open(filepath.Join(dir, "log"), durable.Options{}))
	defer log.Close()
	a := must.M1(agent.Open(agent.Config{}.Arms(2), filepath.Join(dir, "file"), log))
	d := must.M1(a.Act(context.Background(), nil))
	must.M(a.Observe(context.Background(), agent.Feedback{ID: d.ID, Reward: 1}))
	fmt.Println(a.Size(), log.Next())
	// Output: 1 2
}

// An agent whose log was closed returns an error, and nothing panics. Earlier records are safe.
func TestClosedLog(t *testing.T) {
	c, dir := logged()["arms"], t.TempDir()
	log := must.M1(durable.Open(filepath.Join(dir, "log"), durable.Options{}))
	path := filepath.Join(dir, "agent")
	a := must.M1(agent.Open(c, path, log))
	d := must.M1(a.Act(context.Background(), nil))
	must.M(log.Close())
	_, acted := a.Act(context.Background(), nil)
	for what, err := range map[string]error{"Act": acted, "Add": a.Add([]float32{1}, 1), "Save": a.Save(path),
		"Observe": a.Observe(context.Background(), agent.Feedback{ID: d.ID, Reward: 1})} {
		if !errors.Is(err, agent.ErrLog) || !errors.Is(err, durable.ErrClosed) {
			t.Errorf("%s: got error %v, want ErrLog with ErrClosed", what, err)
		}
	}
	_, opened := agent.Open(c, path, log)
	if !errors.Is(opened, durable.ErrClosed) {
		t.Errorf("Open with a closed log: got error %v, want ErrClosed", opened)
	}
	a.Close()
	must.M(log.Close())

	log = must.M1(durable.Open(filepath.Join(dir, "log"), durable.Options{}))
	a = must.M1(agent.Open(c, path, log))
	must.M(a.Observe(context.Background(), agent.Feedback{ID: d.ID, Reward: 1}))
	a.Close()
	must.M(errors.Join(a.Save(path), log.Close()))
}

// The error of a damaged file says whether the log can replace it. If so, following its advice gives the same agent.
// The log of an agent that was saved without it before cannot replace the file.
func TestOpenDamaged(t *testing.T) {
	c := logged()["contextual"]
	path, log := filepath.Join(t.TempDir(), "agent"), &memory{}
	a := must.M1(agent.Open(c, path, log))
	live(t, a, c, 1, 5)
	must.M(a.Save(path))
	must.M(os.Truncate(path, 100))
	trimmed := &memory{all: log.all[2:], first: 2}
	before, later := must.M1(agent.New(c)), &memory{}
	live(t, before, c, 1, 2)
	older := path + ".older"
	must.M(before.Save(older))
	live(t, must.M1(agent.Open(c, older, later)), c, 2, 2)
	for want, l := range map[string]*memory{
		"if the agent began with this log, move the file away, and the agent is made from the log": log,
		"use an earlier file, or a backup":                             trimmed,
		"its log lacks what the agent had learned before the log bega": later,
	} {
		if _, err := agent.Open(c, path, l); !errors.Is(err, agent.ErrDamaged) ||
			!strings.Contains(err.Error(), "loading "+path) || !strings.Contains(err.Error(), "it is cut off; ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	must.M(os.Rename(path, path+".damaged"))
	same(t, a.Whole(), must.M1(agent.Open(c, path, log)).Whole())
	if _, err := agent.Open(c, path, nil); err == nil || !strings.Contains(err.Error(), "use New or Load") {
		t.Errorf("Open without a log: got error %v, want one that names New and Load", err)
	}
}
