package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
)

// --policy is equivalent to --set policy=: it gives the same settings, regrets and errors for every agent with that
// key. Both together are refused.
func TestPolicyFlag(t *testing.T) {
	outcomes := func(args ...string) (kept []string) {
		args = append([]string{"run", "gaussian", "--agent", "linear,exact", "--set", "arms=3",
			"--set", "index-samples=2", "--set", "batch=8", "--periods", "8", "--runs", "2", "--seed", "3", "--json"},
			args...)
		stdout := must0(t, args...)
		for _, line := range strings.Split(strings.TrimSpace(stdout), "\n") {
			var o map[string]any
			must.M(json.Unmarshal([]byte(line), &o))
			text, _ := json.Marshal([]any{o["agent"], o["settings"], o["cumulative_regret"]})
			kept = append(kept, string(text))
		}
		return kept
	}
	flag, set, none := outcomes("--policy", "ids"), outcomes("--set", "policy=ids"), outcomes()
	if len(flag) != 2 || flag[0] != set[0] || flag[1] != set[1] || !strings.Contains(flag[0], `"policy":"ids"`) {
		t.Errorf("--policy ids gives %v\n--set policy=ids gives %v, want equal rows", flag, set)
	}
	if flag[0] == none[0] || flag[1] != none[1] || !strings.Contains(none[0], `"policy":"thompson"`) {
		t.Errorf("without --policy: %v\nwith --policy ids: %v, want a change for linear only", none, flag)
	}
	for args, want := range map[string]string{
		"--policy magic":                          `policy=magic: want one of thompson, ids`,
		"--set policy=magic":                      `policy=magic: want one of thompson, ids`,
		"--policy ids --set policy=ucb":           `key "policy" is set twice`,
		"--agent exact --policy ids":              `no agent here has a key "policy"`,
		"--policy ucb --set quantile=0.9":         `no agent here has a key "quantile" (did you mean "policy-quantile"?)`,
		"--policy top-two --set policy-samples=1": "policy-samples must be at least 2, or 0 for 30, got 1",
	} {
		refused(t, append([]string{"run", "gaussian"}, strings.Fields(args)...), want)
	}
}

// Several policies are a sweep. A greedy policy has 100 functions by default: with one it would be Thompson sampling.
func TestPolicyFlagSweeps(t *testing.T) {
	status, stdout, stderr := call(t, "run", "gaussian", "--agent", "linear", "--policy", "greedy,ucb",
		"--set", "arms=3", "--set", "batch=8", "--periods", "5", "--runs", "1", "--json")
	if status != 0 || strings.Count(stdout, `"policy":"greedy","policy-samples":100`) != 1 || strings.Count(stdout, `"policy":"ucb"`) != 1 {
		t.Errorf("exit status %d, want 0 and one line for each policy: %s%s", status, stdout, stderr)
	}
}
