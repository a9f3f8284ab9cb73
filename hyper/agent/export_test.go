package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// NotInShort skips a test in short runs. A Parallel test calls it first.
func NotInShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("not in short runs")
	}
}

// Told adds a datum and makes a round of SGD steps, or does neither, as Observe does with the feedback of a decision.
func (a *Agent) Told(x []float32, y float32) error {
	return waited(a.learn(journal.Record{}, a.added(x, y, 1), a.trained))
}

// SettleAt settles the decisions whose wait is over at a time, as the agent does by itself.
func (a *Agent) SettleAt(now time.Time) error { return a.settleDue(now) }

// ObserveAt is Observe of one feedback at a given time.
func (a *Agent) ObserveAt(f Feedback, now time.Time) error { return waited(a.take(f, now)) }

// Nameless returns the decision without its ID, which is partly random.
func (d Decision) Nameless() Decision {
	d.ID = ""
	return d
}

// Whole returns everything that a file of the agent would contain, by name: its header, the shapes and bytes of its
// tensors, and the decisions that it remembers.
func (a *Agent) Whole() map[string]string {
	now, f, waiting := a.whole()
	defer now.drop()
	s := must.M1(a.wholeOf(now, nil))
	defer s.drop()
	rows, inputs := saving(waiting)
	out := map[string]string{"data": fmt.Sprint(f.Data, f.Rounds, f.Decisions), "decisions": fmt.Sprint(rows),
		"spreads": fmt.Sprint(f.Context, f.Action)}
	for i, t := range append(s.tensors(), inputs...) {
		out[string(append(a.names, "inputs")[i])] = bytesOf(t)
	}
	return out
}

// bytesOf returns the shape and the bytes of a tensor.
func bytesOf(t *tensors.Tensor) (out string) {
	must.M(t.ConstBytes(func(b []byte) { out = t.Shape().String() + string(b) }))
	return out
}

// Parts returns the belief about each of n arms: its parts of all tensors that have one part for each arm.
func (a *Agent) Parts(n int) [][]string {
	f, now := a.held()
	defer now.drop()
	s := must.M1(f.wholeOf(now, nil))
	defer s.drop()
	out := make([][]string, n)
	for i, name := range f.names {
		dims := s.state[i].Shape().Dimensions
		if len(dims) < 2 || dims[1]%n != 0 || name.Replayed() || name == "fixed.waves" || name == "fixed.phases" ||
			strings.HasPrefix(string(name), "evidence.") {
			continue
		}
		flat := must.M1(numbers(s.state[i].Tensor))
		for arm := range out {
			size := len(flat) / n
			out[arm] = append(out[arm], fmt.Sprint(name, flat[arm*size:(arm+1)*size]))
		}
	}
	return out
}
