package serve

// Explained is the answer of /v1/explain: the agent's belief about each action of a request, and the effects of its
// features.
type Explained struct {
	Actions []ExplainedAction `json:"actions"`
}

// ExplainedAction is the agent's belief about the mean reward of an action.
type ExplainedAction struct {
	Action  int      `json:"action"` // index of the action in the request
	Name    string   `json:"name,omitempty"`
	Mean    float64  `json:"mean"`
	SD      float64  `json:"sd"` // standard deviation of the mean over the belief
	Effects []Effect `json:"effects"`
}

// Effect is the change of the mean reward when a feature takes its present value instead of its average.
type Effect struct {
	Of     string  `json:"of"` // "context" or "action"
	Name   string  `json:"name"`
	Effect float64 `json:"effect"`
	SD     float64 `json:"sd"`
}
