package api

import (
	"encoding/json"
	"fmt"
	"time"
)

// Spec describes an agent: the options to choose from, by name, and the learner that chooses, with its settings. It is
// the content of the agent's file, and the reply of /v1/spec.
//
//	{"arms": ["old", "new"], "context": {"names": ["age", "visits"], "buckets": 16}, "floor": 0.05, "expire": "72h",
//	  "reward": {"wait": "10m", "default": 0}}
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

	Seed       uint64     `json:"seed,omitempty"`
	Floor      float64    `json:"floor,omitempty"`      // see Floor of agent.Config
	Pending    int        `json:"pending,omitempty"`    // see Pending of agent.Config
	Expire     Duration   `json:"expire,omitempty"`     // see Expire of agent.Config
	Reward     RewardRule `json:"reward,omitzero"`      // what decisions with no reward or several rewards teach
	Replay     string     `json:"replay,omitempty"`     // growth, reservoir or window: see agent.Replay
	Capacity   int        `json:"capacity,omitempty"`   // largest number of rewards kept; 0 means the default
	Change     ChangeTest `json:"change,omitzero"`      // the zero value means no test
	Background float64    `json:"background,omitempty"` // share of the time for training; 0 trains when rewards arrive
	Backend    string     `json:"backend,omitempty"`    // such as xla:cpu or go; "" means the default
}

// Features lists the features of a context or of an action: see agent.Names.
type Features struct {
	Names   []string `json:"names,omitempty"`   // features that have a number of their own
	Buckets int      `json:"buckets,omitempty"` // number of buckets that all other features share by hashing
}

// ChangeTest is a test of whether the rewards have changed: see agent.Change.
type ChangeTest struct {
	Run     float64 `json:"run"`               // least mean number of rewards before a false alarm
	Restart bool    `json:"restart,omitempty"` // whether the agent begins anew at an alarm
}

// RewardRule says how long the agent waits for the rewards of a decision, and what it learns then: see agent.Reward.
// The zero value learns from the first reward at once.
type RewardRule struct {
	Wait    Duration `json:"wait,omitempty"`    // 0 waits for nothing
	Default *float32 `json:"default,omitempty"` // reward of a decision without one; if nil, it teaches nothing
	Combine string   `json:"combine,omitempty"` // first, sum, max or last; "" means first
}

// Duration is a time.Duration. In JSON it is a text, such as "36h".
type Duration time.Duration

// UnmarshalText parses a text as time.ParseDuration does.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("want a time such as 72h or 10m: %w", err)
	}
	*d = Duration(v)
	return nil
}

// MarshalText returns the text of a Duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }
