package lab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/internal/strict"
)

// The largest numbers of periods and runs of a Spec. Periods are counted in an int32, and all runs are listed before
// the first begins.
const (
	maxPeriods = math.MaxInt32
	maxRuns    = 10_000_000
)

// Spec states what to run. Together with its seeds it determines every result.
type Spec struct {
	Experiment string  `json:"experiment"`
	Entries    []Entry `json:"entries"`
	Periods    int     `json:"periods"`
	Runs       int     `json:"runs"` // runs of each entry
	Seed       uint64  `json:"seed"` // run i of every entry has seed Seed+i: entries share environments
}

// String describes the Spec in one line.
func (s Spec) String() string {
	var agents []string
	for _, e := range s.Entries {
		if !slices.Contains(agents, e.Agent) {
			agents = append(agents, e.Agent)
		}
	}
	text := s.Experiment + ": " + strings.Join(agents, ", ")
	if len(agents) < len(s.Entries) {
		text += fmt.Sprintf(" in %d settings", len(s.Entries))
	}
	return fmt.Sprintf("%s, %v, first seed %d", text, Size{Periods: s.Periods, Runs: s.Runs}, s.Seed)
}

// Entry is an agent with a setting.
type Entry struct {
	Agent   string
	Setting *Setting
	Kind    string // learner of the catalogue, if Agent is not an agent of the experiment; "" means Agent
}

// Shape returns a text that is equal for entries that one compiled program can run side by side, in one experiment and
// for runs of one length.
func (e Entry) Shape() string { return e.Agent + " " + e.Setting.shape() }

// MarshalJSON writes {"agent": ..., "settings": {...}}, with "file_sha256" if the world reads a file.
func (e Entry) MarshalJSON() ([]byte, error) {
	_, sum := e.Setting.source()
	return json.Marshal(struct {
		Agent    string         `json:"agent"`
		Kind     string         `json:"learner,omitempty"`
		Settings map[string]any `json:"settings"`
		File     string         `json:"file_sha256,omitempty"`
	}{e.Agent, e.Kind, catalog.Values(e.Setting), sum})
}

// ParseSpec reads a Spec of one of the known experiments. unknown fields, agents and keys are errors. So are a key that
// occurs twice, text after the Spec, and a file whose contents have changed since the Spec was made.
func ParseSpec(text []byte, known map[string]Experiment) (Spec, Experiment, error) {
	var raw struct {
		Experiment string
		Entries    []struct {
			Agent    string
			Kind     string `json:"learner"`
			Settings json.RawMessage
			File     string `json:"file_sha256"`
		}
		Periods, Runs int
		Seed          uint64
	}
	switch err := strict.JSON(text, &raw); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Spec{}, Experiment{}, errors.New("spec: the text is empty or cut off")
	case err != nil:
		return Spec{}, Experiment{}, fmt.Errorf("spec: %w", err)
	}
	x, err := Find(known, raw.Experiment)
	if err != nil {
		return Spec{}, Experiment{}, fmt.Errorf("spec: %w", err)
	}
	spec := Spec{Experiment: raw.Experiment, Periods: raw.Periods, Runs: raw.Runs, Seed: raw.Seed}
	for _, e := range raw.Entries {
		s, err := x.newEntry(e.Agent, e.Kind)
		if err != nil {
			return Spec{}, x, err
		}
		if err := catalog.SetValues(s, e.Settings); err != nil {
			return Spec{}, x, fmt.Errorf("spec: agent %s: %w", e.Agent, err)
		}
		if err := s.sameSource(e.File); err != nil {
			return Spec{}, x, fmt.Errorf("spec: %w", err)
		}
		spec.Entries = append(spec.Entries, Entry{e.Agent, s, e.Kind})
	}
	x.markUsual(spec)
	return spec, x, spec.Validate()
}

// Equal reports whether two Specs have the same JSON text.
func (s Spec) Equal(other Spec) bool {
	one, err1 := json.Marshal(s)
	two, err2 := json.Marshal(other)
	return err1 == nil && err2 == nil && bytes.Equal(one, two)
}

// New returns the default setting of an agent of the experiment, or of a learner of the catalogue.
func (x Experiment) New(agent string) (*Setting, error) {
	s, kind := &Setting{World: x.World()}, agent
	if own := x.kinds[agent]; own != "" {
		kind = own
	}
	if f, ok := x.Agents[agent]; ok {
		s.Learner = f()
	} else if f, err := catalog.Find(kind); err == nil {
		arms := s.World.Validate() == nil && s.World.Problem().Features == 0
		s.Learner = f(arms)
	} else {
		names := slices.Concat(x.Order, catalog.Names(catalog.Learners()))
		return nil, fmt.Errorf("experiment %s has no agent %q%s; its agents are %s%s", x.Name, agent,
			nearest.Hint(agent, names), strings.Join(x.Order, ", "), x.others())
	}
	if usual := x.usual[agent]; usual != nil {
		return s, s.copyValues(usual)
	}
	return s, catalog.Share(s) // a learner assumes what is true in the world
}

// newEntry is New for the agent of an entry, which may be a learner with settings of its own.
func (x Experiment) newEntry(agent, kind string) (*Setting, error) {
	if kind == "" || x.kinds[agent] != "" {
		return x.New(agent)
	}
	return x.New(kind)
}

// others lists, for an error, the learners of the catalogue that are not agents of the experiment.
func (x Experiment) others() string {
	names := catalog.Names(catalog.Learners())
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(x.Order, name) })
	if len(names) == 0 {
		return ""
	}
	return "; other learners are " + strings.Join(names, ", ")
}

// Validate returns every fault of the Spec and its settings, joined by errors.Join.
func (s Spec) Validate() error {
	var errs []error
	if s.Periods < 1 || s.Periods > maxPeriods {
		errs = append(errs, fmt.Errorf("periods must be at least 1 and at most %d, got %d", maxPeriods, s.Periods))
	}
	if s.Runs < 1 || s.Runs > maxRuns {
		errs = append(errs, fmt.Errorf("runs must be at least 1 and at most %d, got %d", maxRuns, s.Runs))
	}
	if len(s.Entries) == 0 {
		errs = append(errs, errors.New("no agent to run"))
	}
	return errors.Join(append(errs, s.settingFaults()...)...)
}

func (s Spec) settingFaults() []error {
	var all []agentFault
	for _, e := range s.Entries {
		all = append(all, agentFault{e.Agent, e.Setting.Validate()})
	}
	return grouped(all)
}

// agentFault is an error about an agent's settings, or nil for valid settings.
type agentFault struct {
	agent string
	err   error
}

// grouped returns each fault once, with the names of all agents that have it.
func grouped(all []agentFault) (errs []error) {
	var order []string
	first, agents := map[string]error{}, map[string][]string{}
	for _, f := range all {
		if f.err == nil {
			continue
		}
		text := f.err.Error()
		if first[text] == nil {
			first[text], order = f.err, append(order, text)
		}
		if !slices.Contains(agents[text], f.agent) {
			agents[text] = append(agents[text], f.agent)
		}
	}
	for _, text := range order {
		errs = append(errs, fmt.Errorf("agent %s: %w", strings.Join(agents[text], ", "), first[text]))
	}
	return errs
}

// scheduleRatio is the ratio between successive periods of a schedule, 10^(1/16).
const scheduleRatio = 1.1547819846894583

// Schedule lists the periods at which rows are written: about 16 for each factor of ten, evenly spaced on a logarithmic
// scale, and the last period.
func Schedule(periods int) []int {
	var out []int
	for x := 1.0; int(x) < periods; x *= scheduleRatio {
		if n := int(x); len(out) == 0 || n > out[len(out)-1] {
			out = append(out, n)
		}
	}
	return append(out, periods)
}
