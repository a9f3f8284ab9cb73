package api

// Explanation is the reply of /v1/explain: the agent's belief about each action of a request, and the effects of its
// features.
//
//	{"actions": [{"action": 0, "name": "old", "mean": 0.4, "sd": 0.1,
//	  "effects": [{"of": "context", "name": "age", "effect": -0.2, "sd": 0.05}]}]}
type Explanation struct {
	Actions []ExplainedAction `json:"actions"`
}

// ExplainedAction is the agent's belief about the mean reward of an action.
type ExplainedAction struct {
	Action  int      `json:"action"` // index of the action in the request
	Name    string   `json:"name,omitempty"`
	Mean    float64  `json:"mean"`
	SD      float64  `json:"sd"`      // standard deviation of the mean over the belief
	Effects []Effect `json:"effects"` // the largest first, at most 20
}

// Effect is the change of the mean reward when a feature takes its present value instead of its average.
type Effect struct {
	Of     string  `json:"of"` // "context" or "action"
	Name   string  `json:"name"`
	Effect float64 `json:"effect"` // mean over the belief, in units of rewards
	SD     float64 `json:"sd"`     // standard deviation over the belief
}
