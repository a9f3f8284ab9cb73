package serve

import (
	"encoding/json"

	"github.com/hypermodels/hypermodels/hyper/serve/agentfile"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// In earlier versions, bayesian-linear had no linear regression on the context alone (the setting line), only on
// cosines of it. An agent that was saved then continues
// without the line. With the line it would have to learn everything again from its log, and the log may no longer have
// all records.

// asSaved returns the Spec of an agent that is about to be loaded. If the saved agent has no line, and the Spec does
// not set line, it returns the Spec without the line. Otherwise it returns the Spec unchanged.
func (s *Server) asSaved(spec api.Spec) api.Spec {
	if agentfile.LearnerName(spec) != agentfile.BayesianLinear || s.fits(spec) {
		return spec
	}
	set := map[string]json.RawMessage{}
	if len(spec.Set) > 0 && json.Unmarshal(spec.Set, &set) != nil {
		return spec
	}
	if _, says := set["line"]; says {
		return spec
	}
	set["line"] = json.RawMessage(`"no"`)
	before := spec
	before.Set, _ = json.Marshal(set) // cannot fail: set was read from JSON
	if !s.fits(before) {
		return spec
	}
	s.options.Log.Info("the saved agent has no linear regression on the context (the setting line), only on cosines, " +
		"and the server continues without it; " +
		`to add a line, set "set": {"line": "yes"} in the agent's file and send SIGHUP: the agent then learns from the log`)
	return before
}
