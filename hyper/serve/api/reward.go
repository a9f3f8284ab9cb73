package api

// RewardRequest is the body of /v1/reward: one reward, by ID and Reward, or a list of at most 10,000 rewards.
//
//	{"id": "3f-0000002a", "reward": 1}
//	{"rewards": [{"id": "3f-0000002a", "reward": 1}, {"id": "40-0000002b", "reward": 0}]}
type RewardRequest struct {
	ID     string   `json:"id,omitempty"`
	Reward *float32 `json:"reward,omitempty"`
	Weight float32  `json:"weight,omitempty"`
	List   []Reward `json:"rewards,omitempty"`
}

// Reward is the reward of a decision. ID is Decision.ID.
type Reward struct {
	ID     string   `json:"id"`
	Reward *float32 `json:"reward"`
	Weight float32  `json:"weight,omitempty"` // number of equal rewards that it counts as; 0 means 1
}

// RewardReply is the reply of /v1/reward. If the request has one reward, a failure is an ErrorReply instead.
//
//	{"taken": 1, "errors": [{"id": "40-0000002b", "error": "..."}]}
type RewardReply struct {
	Taken  int             `json:"taken"`            // number of rewards that the agent has learned from, now or before
	Errors []DecisionError `json:"errors,omitempty"` // one for each other reward; these rewards may be sent again
}

// DecisionError says why the part of a request about one decision failed.
type DecisionError struct {
	ID    string `json:"id"`
	Error string `json:"error"`
}

// ShownRequest is the body of /v1/shown: the ID of a deferred decision that has been shown, or a list of such IDs.
//
//	{"ids": ["3f-0000002a", "40-0000002b"]}
type ShownRequest struct {
	ID  string   `json:"id,omitempty"`
	IDs []string `json:"ids,omitempty"`
}

// ShownReply is the reply of /v1/shown.
//
//	{"shown": 2}
type ShownReply struct {
	Shown  int             `json:"shown"`            // number of decisions that are marked as shown, now or before
	Errors []DecisionError `json:"errors,omitempty"` // one for each other decision
}
