package serve

import (
	"encoding/json"
)

// Before December 2026 bayesian-linear had no line beside its cosines. An agent that was saved then goes on without: to
// learn anew what it knows would take its log, which may no longer have everything.

// asSaved returns a Spec, or that without the line where the agent in the folder is of that time and the Spec does not
// say whether it wants a line.
func (s *Server) asSaved(spec Spec) Spec {
	if spec.kind() != bayesian || s.fits(spec) {
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
	before.Set, _ = json.Marshal(set) // of what JSON was read into
	if !s.fits(before) {
		return spec
	}
	s.options.Log.Info("the agent was saved before bayesian-linear had a line beside its cosines, and goes on without; " +
		`to have one that learns from the log anew, give its file "set": {"line": "yes"}, and send SIGHUP`)
	return before
}
