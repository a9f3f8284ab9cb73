// Package api has the requests and replies of `hyper serve` as Go types, for clients and for the server. Their JSON is
// the body of the HTTP messages; /openapi.json of a server describes the same messages for other languages.
//
//	POST /v1/decide       DecisionRequest -> Decision
//	POST /v1/explain      DecisionRequest -> Explanation
//	POST /v1/reward       RewardRequest   -> RewardReply
//	POST /v1/shown        ShownRequest    -> ShownReply
//	POST /v1/snapshot                     -> SnapshotReply
//	GET  /v1/spec                         -> Spec
//	GET  /v1/health                       -> Health
//	GET  /v1/activity                     -> Activity
//	GET  /v1/diagnostics                  -> Diagnostics
//
// A request that fails gets an HTTP status of 400 or more, and an ErrorReply. The package imports nothing but the
// standard library.
package api

// DecisionRequest is the body of /v1/decide and /v1/explain: the actions to choose from, and the context. An agent of
// arms takes the first form, and an agent of actions with features takes the second:
//
//	{"context": {"age": 41, "country": "fr"}, "arms": ["old", "new"]}
//	{"context": {"age": 41}, "actions": [{"id": "a7", "features": {"price": 3.5}}, {"id": "b2", "features": {}}]}
type DecisionRequest struct {
	// Context has the features of the context by name: numbers, true or false, or texts. A missing feature is 0. If the
	// agent's Spec names features of the context, Context must be present, even if it is empty.
	Context map[string]any `json:"context,omitzero"`
	// Arms lists the arms to choose from, for an agent of arms; nil means all arms, and an empty list is an error.
	Arms []string `json:"arms,omitzero"`
	// Actions lists the actions to choose from, for an agent of actions with features.
	Actions []Action `json:"actions,omitempty"`
	// Deferred marks a decision that the client shows later, or never. Once it is shown, the client says so by
	// /v1/shown.
	Deferred bool `json:"deferred,omitempty"`
	// List is the number of places of a list; one action is chosen for each place. 0 asks for one action and no list.
	List int `json:"list,omitempty"`
}

// Action is an action given by its features. ID is the client's own name for it, which the reply repeats.
type Action struct {
	ID       string         `json:"id,omitempty"`
	Features map[string]any `json:"features"`
}

// Decision is the reply of /v1/decide: the action that the agent has chosen.
//
//	{"id": "3f-0000002a", "action": 1, "name": "new", "probability": 0.8, "probabilities": [0.2, 0.8]}
type Decision struct {
	ID            string     `json:"id"`             // to send with the reward; "" if the server learns nothing
	Action        int        `json:"action"`         // index of the action in the request, or of the arm in the Spec
	Name          string     `json:"name,omitempty"` // name of the arm, or the ID of the action
	Probability   float32    `json:"probability"`    // probability with which the agent chose the action
	Probabilities []float32  `json:"probabilities"`  // of all actions; 0 for earlier places of the list
	List          []Decision `json:"list,omitempty"` // one decision for each place; the first is this decision
}
