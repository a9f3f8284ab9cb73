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

	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog"
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
	agents := s.agents()
	text := s.Experiment + ": " + strings.Join(agents, ", ")
	if len(agents) < len(s.Entries) {
		text += fmt.Sprintf(" in %d settings", len(s.Entries))
	}
	return fmt.Sprintf("%s, %v, first seed %d", text, Size{Periods: s.Periods, Runs: s.Runs}, s.Seed)
}

// Rows returns the number of rows of complete results.
func (s Spec) Rows() int { return len(s.Entries) * s.Runs * len(Schedule(s.Periods)) }

// agents returns the names of the agents, each once.
func (s Spec) agents() (names []string) {
	for _, e := range s.Entries {
		if !slices.Contains(names, e.Agent) {
			names = append(names, e.Agent)
		}
	}
	return names
}

// KeyNames lists the keys of the settings in ascending order, each once.
func (s Spec) KeyNames() (names []string) {
	for _, e := range s.Entries {
		names = append(names, catalog.KeyNames(e.Setting)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// DifferingKeys lists the keys whose values differ between entries, in ascending order. They include the keys that some
// agents do not have.
func (s Spec) DifferingKeys() []string {
	var values []map[string]any
	for _, e := range s.Entries {
		values = append(values, catalog.Values(e.Setting))
	}
	return slices.DeleteFunc(s.KeyNames(), func(key string) bool {
		first, found := values[0][key]
		return found && !slices.ContainsFunc(values, func(own map[string]any) bool {
			return fmt.Sprint(own[key]) != fmt.Sprint(first)
		})
	})
}

// ParseSpec reads a Spec of one of the known experiments. Unknown fields, agents and keys are errors. So are a key that
// occurs twice, text after the Spec, and a file whose contents have changed since the Spec was made.
func ParseSpec(text []byte, known map[string]Experiment) (Spec, error) {
	return parseSpec(text, known, false)
}

// parseSpec is ParseSpec. If recall is true, the Spec is there to read its results, and a file that is missing is no
// error if the Spec records its shape.
func parseSpec(text []byte, known map[string]Experiment, recall bool) (Spec, error) {
	var raw struct {
		Experiment string `json:"experiment"`
		Entries    []struct {
			Agent    string          `json:"agent"`
			Kind     string          `json:"learner"`
			Settings json.RawMessage `json:"settings"`
			File     string          `json:"file_sha256"`
			Table    *bandit.Shape   `json:"table"`
		} `json:"entries"`
		Periods int    `json:"periods"`
		Runs    int    `json:"runs"`
		Seed    uint64 `json:"seed"`
	}
	switch err := strict.JSON(text, &raw); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Spec{}, errors.New("spec: the text is empty or cut off")
	case err != nil:
		return Spec{}, fmt.Errorf("spec: %w", err)
	}
	x, err := Find(known, raw.Experiment)
	if err != nil {
		return Spec{}, fmt.Errorf("spec: %w", err)
	}
	spec := Spec{Experiment: raw.Experiment, Periods: raw.Periods, Runs: raw.Runs, Seed: raw.Seed}
	for _, e := range raw.Entries {
		s, err := x.newEntry(e.Agent, e.Kind)
		if err != nil {
			return Spec{}, err
		}
		if err := catalog.SetValues(s, e.Settings); err != nil {
			return Spec{}, fmt.Errorf("spec: agent %s: %w", e.Agent, err)
		}
		err = s.sameSource(e.File)
		if err == nil && recall && e.File != "" && e.Table != nil {
			err = s.recall(e.File, *e.Table)
		}
		if err != nil {
			return Spec{}, fmt.Errorf("spec: %w", err)
		}
		spec.Entries = append(spec.Entries, Entry{e.Agent, s, e.Kind})
	}
	x.markUsual(spec)
	return spec, spec.Validate()
}

// Equal reports whether two Specs have the same JSON text.
func (s Spec) Equal(other Spec) bool {
	one, err1 := json.Marshal(s)
	two, err2 := json.Marshal(other)
	return err1 == nil && err2 == nil && bytes.Equal(one, two)
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
