package lab

import (
	"encoding/json"

	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog"
)

// Entry is an agent with a setting.
type Entry struct {
	Agent   string
	Setting *Setting
	Kind    string // learner of the catalogue, if Agent is not an agent of the experiment; "" means Agent
}

// Shape returns a text that is equal for entries that one compiled program can run side by side, in one experiment and
// for runs of one length.
func (e Entry) Shape() string { return e.Agent + " " + e.Setting.shape() }

// MarshalJSON writes {"agent": ..., "settings": {...}}, with "file_sha256" and "table" if the world reads a file.
func (e Entry) MarshalJSON() ([]byte, error) {
	_, sum := e.Setting.source()
	var shape *bandit.Shape
	if w, ok := e.Setting.World.(bandit.Recalled); ok && sum != "" {
		if s, ok := w.Shape(); ok {
			shape = &s
		}
	}
	return json.Marshal(struct {
		Agent    string         `json:"agent"`
		Kind     string         `json:"learner,omitempty"`
		Settings map[string]any `json:"settings"`
		File     string         `json:"file_sha256,omitempty"`
		Table    *bandit.Shape  `json:"table,omitempty"`
	}{e.Agent, e.Kind, catalog.Values(e.Setting), sum, shape})
}
