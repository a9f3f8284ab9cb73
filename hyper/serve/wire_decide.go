package serve

// Request is the body of /v1/decide: the actions to choose from, and the context.
type Request struct {
	// Context has features by name; missing features are 0. If the agent's Spec names features of the context, Context
	// must be present, even if it is empty.
	Context map[string]any `json:"context,omitzero"`
	// Arms lists the arms to choose from, for an agent of arms; nil means all arms.
	Arms []string `json:"arms,omitempty"`
	// Actions lists the actions to choose from, for an agent of actions with features.
	Actions []Action `json:"actions,omitempty"`
	// Deferred marks a decision that is shown later, or never. /v1/shown then reports that it is shown.
	Deferred bool `json:"deferred,omitempty"`
	// List is the number of places of a list; one action is chosen for each place. 0 asks for one action and no list.
	List int `json:"list,omitempty"`
}

// Action is an action given by its features. ID is the client's own name for it; the answer repeats it.
type Action struct {
	ID       string         `json:"id,omitempty"`
	Features map[string]any `json:"features"`
}

// Answer is the answer of /v1/decide.
type Answer struct {
	ID            string    `json:"id"`     // names the decision in a Reward; "" if the server only reads
	Action        int       `json:"action"` // index of the action in the request
	Name          string    `json:"name,omitempty"`
	Probability   float32   `json:"probability"`
	Probabilities []float32 `json:"probabilities"`  // of all actions; 0 for earlier places of the list
	List          []Answer  `json:"list,omitempty"` // one answer for each place; the first is the answer itself
}
