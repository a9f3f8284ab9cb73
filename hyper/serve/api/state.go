package api

import "time"

// Health is the reply of /v1/health, which needs no token.
//
//	{"status": "ok", "data": 1200, "rounds": 3600}
type Health struct {
	Status string `json:"status"`          // "ok", "not learning", or "not following"
	Data   int    `json:"data"`            // number of rewards that the agent has learned from
	Rounds int    `json:"rounds"`          // number of rounds of training
	Error  string `json:"error,omitempty"` // why the agent does not learn, or gets no snapshots of the server that learns
}

// SnapshotReply is the reply of POST /v1/snapshot, which saves the agent. GET /v1/snapshot sends the saved agent
// instead.
//
//	{"file": "agent/agent", "data": 1200}
type SnapshotReply struct {
	File string `json:"file"` // path of the file on the server's machine
	Data int    `json:"data"` // number of rewards that the agent has learned from
}

// ErrorReply is the reply to a request that failed.
//
//	{"error": "id is missing: send the id that /v1/decide answered"}
type ErrorReply struct {
	Error string `json:"error"`
}

// Activity is the reply of /v1/activity: counts of decisions and rewards since the server started. Its page shows them.
//
//	{"since": "2026-11-20T10:00:00Z", "decisions": 300, "rewards": 120, "step_seconds": 5,
//	  "arms": [{"name": "old", "decisions": 90, "share": 0.3, "rewards": 40, "mean": 0.2, "lower": 0.1, "upper": 0.35}],
//	  "steps": [{"decisions": 3, "rewards": 1, "mean": 1, "p50": 0.0002, "p99": 0.0004}]}
type Activity struct {
	Since     time.Time `json:"since"` // time at which the server started
	Decisions int       `json:"decisions"`
	Rewards   int       `json:"rewards"` // number of these decisions with a reward
	// Arms has the counts of each arm, in the order of the Spec. Actions with features are not counted here.
	Arms []ArmActivity `json:"arms,omitempty"`
	// Steps has the last ten minutes in steps of five seconds, the oldest first. The last step is not complete.
	StepSeconds float64 `json:"step_seconds"`
	Steps       []Step  `json:"steps"`
}

// ArmActivity counts the decisions for an arm, and their rewards.
type ArmActivity struct {
	Name      string  `json:"name"`
	Decisions int     `json:"decisions"`
	Share     float64 `json:"share"` // share of all decisions
	Rewards   int     `json:"rewards"`
	// Mean is the mean reward of the arm's decisions with a reward. Lower and Upper are its 95% interval: Wilson's
	// interval if all rewards are 0 or 1, and the normal interval otherwise. They are missing before there are enough
	// rewards.
	Mean  *float64 `json:"mean,omitempty"`
	Lower *float64 `json:"lower,omitempty"`
	Upper *float64 `json:"upper,omitempty"`
}

// Step counts the decisions and rewards of five seconds.
type Step struct {
	Decisions int      `json:"decisions"`
	Rewards   int      `json:"rewards"`
	Mean      *float64 `json:"mean,omitempty"` // mean reward
	P50       float64  `json:"p50"`            // median time of a decision in seconds; 0 without decisions
	P99       float64  `json:"p99"`            // 99% quantile of that time
}

// Diagnostics is the reply of /v1/diagnostics. It describes the agent's present belief about its last decisions,
// estimated by functions drawn from the belief.
//
//	{"decisions": 64, "functions": 64, "regret": 0.02, "exploring": 0.1, "distinct": 12, "spread": 0.3, "drift": 1.5,
//	  "alarms": 0, "evidence": 0.01}
type Diagnostics struct {
	Decisions int `json:"decisions"` // number of last decisions that the fields below describe, at most 64
	Functions int `json:"functions"` // number of functions drawn
	// Regret is the mean, over functions and decisions, of the value of the best action minus the value of the action
	// taken: the agent's estimate of the cost of a decision, in units of rewards.
	Regret float64 `json:"regret"`
	// Exploring is the share of decisions that did not take the action with the best mean.
	Exploring float64 `json:"exploring"`
	// Distinct is the number of functions that differ in the actions they would take.
	Distinct int `json:"distinct"`
	// Spread is the standard deviation of an action's value over functions, as a root mean square over actions. At 0
	// the belief has collapsed, and no longer explores.
	Spread float64 `json:"spread"`
	// Drift is the distance by which training has moved the agent's parameters: see agent.Agent.Drift.
	Drift float64 `json:"drift"`
	// Alarms is the number of alarms of the test of change. Evidence is the statistic of the test, divided by the
	// ChangeTest's Run. At 1 it raises an alarm.
	Alarms   int     `json:"alarms"`
	Evidence float64 `json:"evidence"`
	// Calibration is missing until some rewards have been compared with predictions.
	Calibration *Calibration `json:"calibration,omitempty"`
}

// Calibration says how well the agent predicted the last rewards, before it learned from any of them: see
// agent.Calibration. For a calibrated agent, the Tenths are about equal, and Surprise and Joint are about 0.
type Calibration struct {
	Rewards int `json:"rewards"` // number of last rewards that were compared, at most 1,000
	// Tenths has the number of rewards in each tenth of the predicted distribution, the lowest first.
	Tenths [10]int `json:"tenths"`
	// Surprise is how much less likely a reward was than the agent expects, in nats. Joint is how much more likely two
	// consecutive rewards were together than the agent expects, in nats.
	Surprise float64 `json:"surprise"`
	Joint    float64 `json:"joint"`
}
