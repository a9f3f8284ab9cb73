package notebook

import (
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// A record's row has its budget (512,000 run-periods in one of the protocol's searches), its winner, and the different
// settings of the study's agent.
func TestSearches(t *testing.T) {
	t.Chdir("../../notebooks")
	sets := []string{"actions=200,1000", "step-size=0.004", "sgd-steps=4", "index-set=frame", "index-samples=60"}
	h := lab.Header{Spec: must.M1(paper.Neural.Spec([]string{"linear"}, sets, lab.Size{Periods: 1, Runs: 1}, 1))}
	has(t, Searches(h, "linear-frame-adam", "equal/*"),
		"| linear-frame-adam | linear | `actions=500` `index-set=frame` `index-samples=60` `sgd-steps=2` "+
			"`optimizer=adam` | 12 | 134376 | `map-step=1` `step-size=0.004` | `actions=200` `sgd-steps=4` |",
		"| equal/linear-1000 | linear | `actions=1000` | 24 | 512000 | ")
	if got := Searches(h, "equal/*").String(); strings.Contains(got, "dropout") {
		t.Errorf("agent that is not in the study: got\n%s", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("missing record: got no error")
		}
	}()
	Searches(h, "none")
}
