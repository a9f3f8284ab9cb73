package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
)

// Each agent of the selected part of a study has its time, its computation, its regret, and its position by both costs.
func TestBenchStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("measures times")
	}
	pieces := must.M1(filepath.Abs("../../notebooks/results/neural/*-200.jsonl.gz"))
	quick := []string{"bench", "study", "neural", "actions=200", "--study", pieces, "--rounds", "1", "--time", "1ms"}
	stdout := must0(t, append(quick, "--json")...)
	agents, micros := map[string]analysis.Tradeoff{}, 0.0
	for line := range strings.Lines(stdout) {
		var o analysis.Tradeoff
		must.M(json.Unmarshal([]byte(line), &o))
		agents[o.Agent] = o
		micros += float64(o.Micros) // some may be 0: the processor's time comes in ticks
		if o.Settings["actions"] != 200. || o.Period != 5000 || o.Runs != 60 || o.Micros < 0 || !(o.Regret.Value > 0) {
			t.Errorf("got line %s, want 200 actions, 5000 periods, 60 runs, a time and a regret", line)
		}
	}
	if len(agents) < 4 || micros <= 0 || agents["linear"].Operations < 10*agents["ensemble"].Operations {
		t.Errorf("got %v, want at least 4 agents with times, linear with the most operations", agents)
	}
	for want, args := range map[string][]string{
		"no agent has actions=7; the values are ": {"bench", "study", "neural", "actions=7", "--study", pieces},
		"no such file or folder":                  {"bench", "study", "neural", "--study", "nowhere"},
		"--rounds and --time must be":             {"bench", "study", "neural", "--study", pieces, "--rounds", "0"},
		"nural":                                   {"bench", "study", "nural"},
	} {
		refused(t, args, want)
	}
}
