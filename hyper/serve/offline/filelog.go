package offline

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
	"github.com/hypermodels/hypermodels/hyper/internal/lines"
	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// FileLog returns the log in a file: decisions of another policy, each with its reward. An agent can learn from it
// before it starts, and can be compared with the other policy.
//
// A file that ends in .csv has the columns arm and reward. It may have the columns probability, the probability with
// which the policy took the arm, and weight. Every other column is a feature of the context; an empty cell means a
// missing feature. A file that ends in .jsonl has an object on each line, as /v1/decide takes it, with these additional
// fields: the action taken (arm, or action with its index), probability or probabilities, reward and weight.
//
// weighed requires probabilities, as [Evaluate] does. A row without a reward gets the default of the Spec's reward, if
// there is one. The number of a record is its line. An error names the line.
func FileLog(path string, spec api.Spec, weighed bool) Records {
	form := lines.Form[loggedRow, loggedRecord]{
		Columns: func(names []string) (func([]string) (loggedRow, error), error) {
			return loggedColumns(names, spec, weighed)
		},
		Value: func(line int, r loggedRow) (loggedRecord, error) { return r.record(uint64(line), spec, weighed) },
	}
	return recordsOf(form.Each(path))
}

// loggedRow is a row of a file: a decision of another policy with its reward.
type loggedRow struct {
	Context       map[string]any `json:"context,omitzero"`
	Arms          []string       `json:"arms,omitempty"`
	Actions       []api.Action   `json:"actions,omitempty"`
	Arm           string         `json:"arm,omitempty"`
	Action        *int           `json:"action,omitempty"`
	Probability   *float32       `json:"probability,omitempty"`
	Probabilities []float32      `json:"probabilities,omitempty"`
	Reward        *float32       `json:"reward,omitempty"`
	Weight        *float32       `json:"weight,omitempty"`
}

// loggedRecord is a loggedRow as a log stores it.
type loggedRecord struct {
	line     uint64
	decision journal.Decision
	feedback *journal.Feedback // nil without a reward
}

// recordsOf converts rows to records, and gives the decisions IDs.
func recordsOf(rows iter.Seq2[loggedRecord, error]) Records {
	return func(yield func(journal.Record, error) bool) {
		decisions := 0
		for r, err := range rows {
			if err != nil {
				yield(journal.Record{}, err)
				return
			}
			r.decision.ID = fmt.Sprintf("%x-%08x", decisions, 0)
			decisions++
			if !yield(journal.Record{Number: r.line, Decision: &r.decision}, nil) {
				return
			}
			if r.feedback == nil {
				continue
			}
			r.feedback.ID = r.decision.ID
			if !yield(journal.Record{Number: r.line, Feedback: r.feedback}, nil) {
				return
			}
		}
	}
}

// mostLogged is the largest number of actions of a decision in a file.
const mostLogged = 100_000

// record converts a row to a record.
func (r loggedRow) record(line uint64, spec api.Spec, weighed bool) (out loggedRecord, err error) {
	if r.Arms == nil {
		r.Arms = spec.Arms
	}
	q := &api.DecisionRequest{Context: r.Context, Arms: r.Arms, Actions: r.Actions}
	own := agentfile.Choices{Spec: spec, Places: make([]int, len(spec.Arms))}
	for i := range own.Places {
		own.Places[i] = i
	}
	m, names, err := own.Menu(q, mostLogged)
	if err != nil {
		return out, err
	}
	out.line, out.decision = line, journal.Decision{Context: m.Context, Actions: m.Actions, Arms: m.Arms}
	if out.decision.Action, err = r.taken(names); err != nil {
		return out, err
	}
	if out.decision.Probabilities, err = r.probabilities(out.decision.Action, len(names), weighed); err != nil {
		return out, err
	}
	out.feedback, err = r.feedback(spec.Reward.Default)
	return out, err
}

// feedback returns the reward of the decision. silence is the reward of a row without one; if it is nil, such a row has
// no feedback.
func (r loggedRow) feedback(silence *float32) (*journal.Feedback, error) {
	f := journal.Feedback{Weight: 1}
	switch {
	case r.Reward != nil:
		f.Reward = *r.Reward
	case silence != nil:
		f.Reward = *silence
	default:
		return nil, nil
	}
	if r.Weight != nil {
		f.Weight = *r.Weight
	}
	if !(f.Reward >= -1e18 && f.Reward <= 1e18) {
		return nil, fmt.Errorf("reward must be between -1e18 and 1e18, got %v", f.Reward)
	}
	if !(f.Weight > 0 && f.Weight <= 1e9) {
		return nil, fmt.Errorf("weight must be positive and at most 1e9, got %v", f.Weight)
	}
	return &f, nil
}

// taken returns the index of the action that was taken.
func (r loggedRow) taken(names []string) (int, error) {
	switch {
	case r.Arm != "" && r.Action != nil:
		return 0, errors.New("arm and action exclude each other: give the arm's name, or the index of the action")
	case r.Arm != "": // an arm's name, or the client's name for an action
		at := slices.Index(names, r.Arm)
		if at < 0 {
			return 0, fmt.Errorf("unknown arm %.40q; the arms are %.200s", r.Arm, strings.Join(names, ", "))
		}
		return at, nil
	case r.Action == nil:
		return 0, errors.New("arm or action is missing: it names the action that was taken")
	case *r.Action < 0 || *r.Action >= len(names):
		return 0, fmt.Errorf("action must be from 0 to %d, got %d", len(names)-1, *r.Action)
	}
	return *r.Action, nil
}

// probabilities returns the probabilities of all actions, only the probability of the action taken, or none.
func (r loggedRow) probabilities(action, actions int, needed bool) ([]float32, error) {
	all := r.Probabilities
	switch {
	case r.Probability != nil && all != nil:
		return nil, errors.New("probability and probabilities exclude each other: give one for the action taken, or one for each action")
	case r.Probability != nil:
		all = []float32{*r.Probability}
	case all == nil && needed:
		return nil, errors.New("probability is missing: an evaluation needs the probability with which the policy took the action")
	case all != nil && len(all) != actions:
		return nil, fmt.Errorf("probabilities must be one for each of %d actions, got %d", actions, len(all))
	}
	for i, p := range all {
		if taken := i == action || len(all) == 1; !(p >= 0 && p <= 1) || taken && p == 0 {
			return nil, fmt.Errorf("a probability must be from 0 to 1, and above 0 for the action taken, got %v", p)
		}
	}
	return all, nil
}

// loggedColumns returns the parser of the rows of a CSV file. A column that is not a field of a loggedRow is a feature
// of the context.
func loggedColumns(names []string, spec api.Spec, weighed bool) (func(cells []string) (loggedRow, error), error) {
	switch {
	case len(spec.Arms) == 0:
		return nil, errors.New("CSV is for agents with arms: use a .jsonl file for actions with features")
	case !slices.Contains(names, "arm") || !slices.Contains(names, "reward"):
		return nil, fmt.Errorf("the header must have the columns arm and reward, got %.80q", names)
	case weighed && !slices.Contains(names, "probability"):
		return nil, errors.New("the header has no column probability: an evaluation needs the probability with which the " +
			"policy took the arm")
	}
	return func(cells []string) (r loggedRow, err error) {
		r.Context = map[string]any{}
		for i, name := range names {
			text := strings.TrimSpace(cells[i])
			if text == "" {
				continue
			}
			switch name {
			case "arm":
				r.Arm = text
			case "reward":
				r.Reward, err = cell(name, text)
			case "probability":
				r.Probability, err = cell(name, text)
			case "weight":
				r.Weight, err = cell(name, text)
			default:
				r.Context[name] = feature(text)
			}
			if err != nil {
				return r, err
			}
		}
		return r, nil
	}, nil
}

// cell parses a number in a CSV file.
func cell(name, text string) (*float32, error) {
	x, err := strconv.ParseFloat(text, 32)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // a number that is too large is infinite
		return nil, fmt.Errorf("%s must be a number, got %.40q", name, text)
	}
	return new(float32(x)), nil
}

// feature parses a feature in a CSV file: a number, true or false, or a text.
func feature(text string) any {
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return x
	}
	if text == "true" || text == "false" {
		return text == "true"
	}
	return text
}
