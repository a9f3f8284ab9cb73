package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// begin opens the agent of the folder. If the Spec has other names, it then continues with the Spec as Reload does.
func (s *Server) begin(ctx context.Context, spec api.Spec) error {
	last, err := agentfile.LastSpec(s.options.Dir, spec)
	if err != nil {
		return err
	}
	as := spec
	if !agentfile.SameFeatures(spec, last) {
		if last, err = s.withMeaning(last); err != nil {
			return err
		}
		if !agentfile.SameFeatures(spec, last) {
			as = last
		}
	}
	as.Like = last.Like // the new entries of Like are still to be applied
	if s.now, err = s.open(as); errors.Is(err, agent.ErrOtherConfig) {
		return fmt.Errorf("%w: start with the settings in %s, then change them and send SIGHUP, which makes another agent "+
			"that learns only from the log in the folder; or give another folder with --dir",
			err, agentfile.SpecFile(s.options.Dir))
	} else if err != nil {
		return err
	}
	if !agentfile.Equal(s.now.Spec, spec) {
		err = s.Reload(ctx, spec)
	}
	for _, arm := range slices.Sorted(maps.Keys(spec.Like)) { // also for a new folder
		if like := spec.Like[arm]; err == nil && !slices.Contains(s.now.names, like) {
			err = agentfile.UnknownLike(arm, like, s.now.names)
		}
	}
	if err != nil {
		s.now.Close()
	}
	return err
}

// open opens the agent from its file and log, with their arms, and compiles its programs.
func (s *Server) open(spec api.Spec) (out served, err error) {
	made, from, err := s.made(spec)
	if err != nil {
		return out, err
	}
	c, err := agentfile.ConfigWithArms(spec, made)
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
	spec.Like = maps.Clone(spec.Like) // of the Spec before, which may have had other arms when its server ended
	maps.DeleteFunc(spec.Like, func(arm, _ string) bool { return !slices.Contains(spec.Arms, arm) })
	if len(spec.Like) == 0 {
		spec.Like = nil
	}
	if out, err = out.with(spec, names); err == nil {
		err = out.Warmup(max(len(spec.Arms), 1))
	}
	if err == nil {
		err = s.logMeaning(spec, from)
	}
	if err == nil {
		err = agentfile.Save(s.options.Dir, spec)
	}
	return out, err
}

// with returns the agent with a Spec. names has the names of all of its arms, by their numbers.
func (a served) with(spec api.Spec, names []string) (served, error) {
	set := a.Arms()
	a.Spec, a.names, a.Places = spec, names, nil
	for _, name := range spec.Arms {
		at := slices.Index(names, name)
		if at < 0 || at >= len(set.Like) {
			return a, fmt.Errorf("the agent has no arm %.40q; its arms are %.200s", name, strings.Join(names, ", "))
		}
		a.Places = append(a.Places, at)
	}
	a.Whole = set.AllInOrder() && slices.Equal(a.Places, set.Offered)
	c, err := agentfile.ConfigWithArms(spec, names)
	a.weighted = c.Learner.Train.Weighted
	return a, err
}

// made returns the arms that the agent of the folder was made with, and the number of the first record that its file
// does not contain.
func (s *Server) made(spec api.Spec) (arms []string, from uint64, err error) {
	last, err := agentfile.LastSpec(s.options.Dir, spec)
	if err != nil {
		return nil, 0, err
	}
	f, err := agent.ReadFile(s.file())
	switch {
	case err == nil && len(f.Arms.Names) > 0:
		return f.Arms.Names[:f.Arms.First], f.Log, nil
	case errors.Is(err, agent.ErrDamaged): // Open reports this, with advice
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

// withMeaning returns a Spec with the features whose numbers the agent's file has learned from. The folder's Spec has
// others if an earlier server ended while it changed them; the log has them.
func (s *Server) withMeaning(spec api.Spec) (api.Spec, error) {
	_, from, err := s.made(spec)
	if err != nil {
		return spec, err
	}
	return s.withFeatures(spec, 0, from)
}

// logMeaning logs the meaning of the numbers of a Spec, if the last meaning in the records from a number onward
// differs. This happens if an earlier server ended while it changed the meaning.
func (s *Server) logMeaning(spec api.Spec, from uint64) error {
	last, err := s.withFeatures(spec, from, math.MaxUint64)
	if err != nil {
		return err
	}
	return s.logFeatures(spec, last)
}

// withFeatures returns a Spec with the last features in the records of the log from a number to before another one.
func (s *Server) withFeatures(spec api.Spec, from, before uint64) (api.Spec, error) {
	for r, err := range s.log.All(from) {
		if err != nil {
			return spec, err
		}
		if r.Number >= before {
			break
		}
		if f := r.Features; f != nil {
			spec.Context, spec.Action = agentfile.FromJournal(f.Context), agentfile.FromJournal(f.Action)
		}
	}
	return spec, nil
}

// logFeatures logs the meaning of the numbers of a Spec, unless it equals the meaning in last.
func (s *Server) logFeatures(spec, last api.Spec) error {
	if agentfile.SameFeatures(spec, last) {
		return nil
	}
	return s.append(journal.Record{Features: &journal.Features{
		Context: agentfile.ToJournal(spec.Context), Action: agentfile.ToJournal(spec.Action),
		WasContext: agentfile.ToJournal(last.Context), WasAction: agentfile.ToJournal(last.Action)}})
}

// append appends a record to the log, and waits until it is on the disk.
func (s *Server) append(r journal.Record) error {
	r.Time = time.Now().UnixNano()
	_, wait, err := s.log.Append(r)
	if err == nil {
		err = wait()
	}
	return err
}
