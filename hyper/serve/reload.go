package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/internal/shell"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
	"github.com/hypermodels/hypermodels/hyper/serve/offline"
)

// Reload continues with another Spec. If the Spec differs only in how the agent runs (pending, expire, reward,
// background, backend, or a larger capacity), the present agent continues. If it has other arms, the agent continues
// too, provided that it has a separate belief for each arm: see [agent.Agent.ChangeArms]. In other cases a new agent
// first learns from the log, while the present agent decides: see [offline.Replay]. Requests wait while the new agent
// replaces the present one. The error says what is wrong, or is the error of ctx; the server is then unchanged.
func (s *Server) Reload(ctx context.Context, spec api.Spec) error {
	if s.source != nil {
		return errReads
	}
	s.reloading.Lock()
	defer s.reloading.Unlock()
	if s.closed.Load() {
		return errClosed
	}
	if _, err := agentfile.Config(spec); err != nil {
		return err
	}
	if _, err := agentfile.LastSpec(s.options.Dir, spec); err != nil {
		return err
	}
	return s.reload(ctx, spec)
}

// reload is Reload for a Spec that is correct and can continue the log.
func (s *Server) reload(ctx context.Context, spec api.Spec) error {
	now := s.now
	set, names := now.Arms(), now.names
	next, err := agentfile.ArmSet(spec, set, names, now.Spec)
	if err != nil {
		return err
	}
	made := spec.Arms
	if len(spec.Arms) > 0 {
		made = names[:set.First]
	}
	c, err := agentfile.ConfigWithArms(spec, made)
	if err != nil {
		return err
	}
	if err := s.Save(); err != nil {
		return err
	}
	err = agent.Check(c, s.file())
	other, grows := errors.Is(err, agent.ErrOtherConfig), len(next.Like) > len(set.Like) && !c.AddsArms()
	switch {
	case other || grows || !agentfile.SameFeatures(spec, now.Spec):
		return s.replaceAgent(ctx, spec, grows || !agentfile.SameFeatures(spec, now.Spec))
	case err != nil:
		return err
	}
	if !slices.Equal(next.Offered, set.Offered) || len(next.Like) > len(set.Like) {
		if err := s.changeArms(spec, next); err != nil {
			return err
		}
	}
	if agentfile.Equal(spec, s.now.Spec) {
		return agentfile.Save(s.options.Dir, spec)
	}
	return s.reopen(spec, func() error { return nil })
}

// changeArms changes the arms. Requests wait only while the agent makes the change.
func (s *Server) changeArms(spec api.Spec, next agent.ArmSet) error {
	change, err := s.now.PrepareArms(next)
	if err != nil {
		return err
	}
	last := s.now.Spec
	last.Arms, last.Like = spec.Arms, spec.Like
	if err := s.swapArms(last, next, change); err != nil {
		return err
	}
	if err := s.Save(); err != nil { // before the folder's Spec gets the new names
		return err
	}
	return agentfile.Save(s.options.Dir, last)
}

func (s *Server) swapArms(spec api.Spec, next agent.ArmSet, change func() error) (err error) {
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

// replaceAgent continues with another agent, which learns from the log. anew means that the present agent is replaced
// only because of its names or arms; the log must then have everything that it has learned. In all cases, an agent that
// has learned from other data than its whole log is not replaced.
func (s *Server) replaceAgent(ctx context.Context, spec api.Spec, anew bool) error {
	now := s.now
	learned := now.Size() // before the log is looked at, because rewards may arrive at any time
	seen := s.log.Next()
	log, err := offline.OpenLog(func() offline.Records { return s.log.All(0) }, now.Spec, now.names)
	if err != nil {
		return err
	}
	if anew && log.First() > 0 {
		return fmt.Errorf("the agent must learn anew from the log to get other arms or features, and the log has dropped "+
			"its records before record %d (--keep-log): keep arms and names as they are, or let `hyper replay %s --agent "+
			"FILE.json --to NEW` learn from what is left, and serve the new folder", log.First(),
			shell.Word(s.options.Dir))
	}
	next, err := offline.Replay(ctx, log, spec, seen)
	if err != nil {
		return err
	}
	defer next.Close()
	if has := next.Size(); has < learned && log.First() == 0 && spec.Change == (api.ChangeTest{}) {
		return fmt.Errorf("the agent has learned from %d rewards, and its log has %d of them, as after `hyper replay`: an "+
			"agent with the new settings would not know the others; make it by `hyper replay`, too, and serve its folder",
			learned, has)
	}
	if set := next.Arms(); set.First > 0 && set.Names == nil {
		set.Names = log.ArmNames(spec, len(set.Like))
		if err := next.ChangeArms(set); err != nil {
			return err
		}
	}
	if seen, err = s.nearlyAll(ctx, next, spec, seen); err != nil {
		return err
	}
	return s.reopen(spec, func() error { return s.replaceFile(ctx, next, spec, seen) })
}

// nearlyAll lets next learn from the records of the log from record seen on, while the present agent decides, until few
// are left or they do not become fewer. It returns the number of the first record that is left.
func (s *Server) nearlyAll(ctx context.Context, next *agent.Agent, spec api.Spec, seen uint64) (uint64, error) {
	const few = 1000 // records that next can learn while requests wait
	for last := uint64(math.MaxUint64); ; {
		end := s.log.Next()
		left := end - seen
		if left <= few || left >= last {
			return seen, nil
		}
		later := func() offline.Records { return s.log.All(seen) }
		if err := offline.CatchUp(ctx, next, spec, later, s.now.Spec, end); err != nil {
			return seen, err
		}
		seen, last = end, left
	}
}

// reopen calls do while no agent uses the log, and then opens the agent again with a Spec. After an error the server is
// unchanged.
func (s *Server) reopen(spec api.Spec, do func() error) error {
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
	again, wrong := s.open(s.now.Spec)
	if wrong == nil {
		s.now = again
	}
	return errors.Join(err, wrong)
}

// replaceFile replaces the file of the present agent by the file of next, which has learned from the log before record
// seen. The old file remains as FILE.last. At any time there is a file with which the log can continue; after an error
// it is the old file.
func (s *Server) replaceFile(ctx context.Context, next *agent.Agent, spec api.Spec, seen uint64) error {
	defer next.Close() // before the agent is opened again: its learner must write nothing to the log beside that one's
	now := s.now
	later := func() offline.Records { return s.log.All(seen) }
	if err := offline.CatchUp(ctx, next, spec, later, now.Spec, s.log.Next()); err != nil {
		return err
	}
	if err := next.Continue(s.log); err != nil {
		return err
	}
	set := next.Arms()
	if !slices.Equal(set.Names, now.names) || !slices.Equal(set.Offered, now.Places) {
		if err := s.append(journal.Record{Arms: &journal.Arms{Like: set.Like, Offered: set.Offered, Names: set.Names,
			Was: len(now.names), Anew: true}}); err != nil {
			return err
		}
	}
	if err := s.logFeatures(spec, now.Spec); err != nil {
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
	return agentfile.Save(s.options.Dir, spec)
}
