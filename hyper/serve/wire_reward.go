package serve

// Rewards is the body of /v1/reward: one reward, or a list of rewards.
type Rewards struct {
	ID     string   `json:"id,omitempty"`
	Reward *float32 `json:"reward,omitempty"`
	Weight float32  `json:"weight,omitempty"`
	All    []Reward `json:"rewards,omitempty"`
}

// Reward is the reward of a decision.
type Reward struct {
	ID     string   `json:"id"`
	Reward *float32 `json:"reward"`
	Weight float32  `json:"weight,omitempty"` // number of equal rewards that it counts as; 0 means 1
}

// Taken is the answer of /v1/reward: the number of rewards that the agent has learned from, now or before, and the
// error of each other reward. These may be sent again.
type Taken struct {
	Taken  int      `json:"taken"`
	Errors []Refuse `json:"errors,omitempty"`
}

// Refuse is the error of a reward that was not taken.
type Refuse struct {
	ID    string `json:"id"`
	Error string `json:"error"`
}

// Shown is the body of /v1/shown: deferred decisions that have been shown. It has one decision, by ID, or a list.
type Shown struct {
	ID  string   `json:"id,omitempty"`
	IDs []string `json:"ids,omitempty"`
}

// Waits is the answer of /v1/shown: the number of decisions that are marked as shown, now or before, and the error of
// each other decision.
type Waits struct {
	Shown  int      `json:"shown"`
	Errors []Refuse `json:"errors,omitempty"`
}
