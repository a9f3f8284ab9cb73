package serve

import (
	"encoding/json"
	"time"
)

// Spec describes an agent in a JSON file for a service: the options to choose from, by name, and the learner that
// chooses, with its settings.
type Spec struct {
	// Arms has the names of the options, if each decision chooses among these options, or among some of them. Without
	// Arms, each decision lists its actions by their features.
	Arms []string `json:"arms,omitempty"`
	// Like names, for a new arm, the present or former arm with whose belief it begins: {"newer": "new"}. Other new
	// arms begin with the prior.
	Like map[string]string `json:"like,omitempty"`
	// Context has the features that all actions of a decision share; Action has the features of each action.
	Context Features `json:"context,omitzero"`
	Action  Features `json:"action,omitzero"`
	// Cross adds the products of features of the action with features of the context.
	Cross bool `json:"cross,omitempty"`
	// Raw uses features as they are; otherwise they are standardised online.
	Raw bool `json:"raw,omitempty"`
	// Learner is a name in catalog.Learners. "" means bayesian-linear, or the learner of agent.Arms for arms without a
	// context. Set has its settings.
	Learner string          `json:"learner,omitempty"`
	Set     json.RawMessage `json:"set,omitempty"`

	Seed       uint64   `json:"seed,omitempty"`
	Floor      float64  `json:"floor,omitempty"`      // see agent.Config
	Pending    int      `json:"pending,omitempty"`    // see agent.Config
	Expire     Duration `json:"expire,omitempty"`     // see agent.Config
	Reward     Waiting  `json:"reward,omitzero"`      // what decisions with no reward or several rewards teach
	Replay     string   `json:"replay,omitempty"`     // growth, reservoir or window
	Capacity   int      `json:"capacity,omitempty"`   // largest number of data kept
	Change     Change   `json:"change,omitzero"`      // test of change
	Background float64  `json:"background,omitempty"` // share of the time for training; 0 trains when rewards arrive
	Backend    string   `json:"backend,omitempty"`
}

// Features names features: see agent.Names.
type Features struct {
	Names   []string `json:"names,omitempty"`
	Buckets int      `json:"buckets,omitempty"`
}

// Change is agent.Change; without Run there is no test.
type Change struct {
	Run     float64 `json:"run"`               // see agent.Change
	Restart bool    `json:"restart,omitempty"` // whether the agent begins anew at an alarm
}

// Waiting is agent.Reward: how long the agent waits for the rewards of a decision, and what it learns then.
type Waiting struct {
	Wait    Duration `json:"wait,omitempty"`
	Default *float32 `json:"default,omitempty"` // reward of a decision without one; if nil, it teaches nothing
	Combine string   `json:"combine,omitempty"` // first, sum, max or last; "" means first
}

// Duration is a time.Duration that JSON has as text, such as "36h".
type Duration time.Duration

// UnmarshalText parses a text as time.ParseDuration does.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// MarshalText returns the text of a Duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }
