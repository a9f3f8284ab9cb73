package offline

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// pages is an agent of arms in a context, and items is an agent of actions with features.
var (
	pages = api.Spec{Arms: []string{"old", "new"}, Context: api.Features{Names: []string{"age", "visits"}}, Floor: 0.1,
		Set: json.RawMessage(`{"waves": 20}`), Pending: 100, Backend: backend.Go}
	items = api.Spec{Context: api.Features{Names: []string{"age"}},
		Action: api.Features{Names: []string{"price"}, Buckets: 4}, Set: json.RawMessage(`{"waves": 20}`), Backend: backend.Go}
)

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.M(os.WriteFile(path, []byte(text), 0o600))
	return path
}

// The decisions of another policy teach an agent, and estimate how well the agent would have done. A coin chooses
// between two pages. The log is in CSV with the probability of the page taken, or in JSON with both probabilities; the
// two forms are the same log.
func TestFileLog(t *testing.T) {
	table, objects := "arm,reward,probability,age,country\n", ""
	for i := range 400 {
		age, arm, y := 20+37*i%50, pages.Arms[(i*7/3)%2], 0
		if (age > 45) == (arm == "new") {
			y = 1
		}
		table += fmt.Sprintf("%s,%d,0.5,%d,\n", arm, y, age)
		objects += fmt.Sprintf(`{"context": {"age": %d}, "action": %d, "probabilities": [0.5, 0.5], "reward": %d}`+"\n\n",
			age, (i*7/3)%2, y)
	}
	var means []float64
	for _, path := range []string{file(t, "log.csv", table), file(t, "log.jsonl", objects)} {
		log := must.M1(OpenLog(func() Records { return FileLog(path, pages, true) }, pages, nil))
		e := must.M1(Evaluate(t.Context(), log, pages, EvaluateOptions{}))
		if itself, target := e.Estimators[0], e.Estimators[2]; e.Decisions != 400 || e.Evaluated != 200 ||
			math.Abs(itself.Value-0.5) > 0.1 || target.Refused != "" || target.Lower < itself.Upper {
			t.Errorf("%s: got %+v, want 400 decisions, and a target that is better", path, e)
		} else {
			means = append(means, target.Value)
		}
		a := must.M1(Replay(t.Context(), log, pages, math.MaxUint64))
		if a.Size() != 400 {
			t.Errorf("%s: got %d data, want 400", path, a.Size())
		}
	}
	if len(means) == 2 && means[0] != means[1] {
		t.Errorf("CSV and JSON give different estimates: %v", means)
	}
}

// The test covers actions with features, a default reward, and weights. An error names the line.
func TestFileLogLines(t *testing.T) {
	silence := float32(0)
	silent := pages
	silent.Reward.Default = &silence
	bare := api.Spec{Arms: pages.Arms}
	count := func(path string, spec api.Spec) (decisions, feedbacks int, err error) {
		for r, err := range FileLog(path, spec, false) {
			if err != nil {
				return 0, 0, err
			}
			if r.Decision != nil {
				decisions++
			} else {
				feedbacks++
			}
		}
		return decisions, feedbacks, nil
	}
	for _, v := range []struct {
		name, text           string
		spec                 api.Spec
		decisions, feedbacks int
		err                  string
	}{
		{"a.csv", "arm,reward,age\nold,1,30\nnew,,30\n", pages, 2, 1, ""},
		{"a.csv", "arm,reward,age\nold,1,30\nnew,,30\n", silent, 2, 2, ""},
		{"a.csv", "arm,reward,weight\nold,1,2\nnew,0,\n", bare, 2, 2, ""},
		{"a.jsonl", `{"context": {}, "actions": [{"features": {"price": 3}}, {"features": {"price": 4}}], "action": 1,
			"reward": 2}`, items, 0, 0, "line 1"}, // it must be one line
		{"a.jsonl", `{"context": {}, "actions": [{"features": {"price": 3}}, {"features": {}}], "action": 1, "reward": 2}`,
			items, 1, 1, ""},
		{"a.jsonl", `{"context": {}, "actions": [{"id": "x", "features": {"price": 3}}], "arm": "x", "reward": 2}`,
			items, 1, 1, ""},
		{"a.csv", "arm,reward\nolder,1\n", bare, 0, 0, `line 2: unknown arm "older"; the arms are old, new`},
		{"a.csv", "arm,reward,age\nold,1,30\nold,much,30\n", pages, 0, 0, `line 3: reward must be a number, got "much"`},
		{"a.csv", "arm,reward,size\nold,1,30\n", pages, 0, 0, `line 2: context: unknown feature "size"`},
		{"a.csv", "arm,reward\nold,1e20\n", bare, 0, 0, "line 2: reward must be between"},
		{"a.csv", "arm,reward\nold,1e40\n", bare, 0, 0, "line 2: reward must be between"},
		{"a.csv", "arm,reward,weight\nold,1,-1\n", bare, 0, 0, "line 2: weight must be positive"},
		{"a.csv", "arm,reward,probability\nold,1,0\n", bare, 0, 0, "line 2: a probability must be from 0 to 1"},
		{"a.csv", "arm,rewards\nold,1\n", bare, 0, 0, "line 1: the header must have the columns arm and reward"},
		{"a.csv", "arm,reward,arm\nold,1,new\n", bare, 0, 0, `line 1: the header has the column "arm" twice`},
		{"a.csv", "price,reward\n3,1\n", items, 0, 0, "CSV is for agents with arms"},
		{"a.jsonl", `{"arm": "old", "action": 1, "reward": 1}`, bare, 0, 0, "line 1: arm and action exclude each other"},
		{"a.jsonl", `{"reward": 1}`, bare, 0, 0, "line 1: arm or action is missing"},
		{"a.jsonl", `{"action": 2, "reward": 1}`, bare, 0, 0, "line 1: action must be from 0 to 1, got 2"},
		{"a.jsonl", `{"arm": "old", "reward": null}`, bare, 0, 0, "line 1: reward must not be null"},
		{"a.jsonl", `{"arm": "old", "probabilities": [1], "reward": 1}`, bare, 0, 0, "probabilities must be one for each of 2"},
		{"a.jsonl", `{"arm": "old", "reward": 1}`, pages, 0, 0, "line 1: context is missing"},
		{"a.txt", "", bare, 0, 0, "want a file name that ends in .csv or .jsonl"},
	} {
		decisions, feedbacks, err := count(file(t, v.name, v.text), v.spec)
		if decisions != v.decisions || feedbacks != v.feedbacks || (err == nil) != (v.err == "") ||
			err != nil && !strings.Contains(err.Error(), v.err) {
			t.Errorf("%s: %d decisions and %d rewards, %v; want %d, %d, %q",
				v.text, decisions, feedbacks, err, v.decisions,
				v.feedbacks, v.err)
		}
	}
	for _, text := range []string{"arm,reward\nold,1\n", "arm,reward,probability\nold,1,\n"} {
		for _, err := range FileLog(file(t, "a.csv", text), bare, true) {
			if err == nil || !strings.Contains(err.Error(), "probability") {
				t.Errorf("%s: got error %v, want one about the probability", text, err)
			}
		}
	}
}
