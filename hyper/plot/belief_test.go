package plot_test

import (
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

func TestBeliefs(t *testing.T) {
	some := lab.Belief{Functions: [][]float32{{1, 2}, {3, 2}}, Truth: []float32{2, 2}}
	many := lab.Belief{Functions: [][]float32{make([]float32, 98)}}
	for i := range many.Functions[0] {
		many.Functions[0][i] = float32(i)
	}
	for name, c := range map[string]struct {
		beliefs []lab.Belief
		actions float64 // drawn
		ticks   string
	}{
		"two agents":             {[]lab.Belief{some, some}, 2, "0 1"},
		"one without functions":  {[]lab.Belief{{Truth: some.Truth}, some}, 2, "0 1"},
		"no truth, many actions": {[]lab.Belief{many}, 20, "0 2 4 6 8 10 12 14 16 18"},
	} {
		names := []string{"exact", "linear"}[:len(c.beliefs)]
		p, err := plot.Beliefs(plot.Axes{X: "action"}, names, names, c.beliefs)
		if err != nil {
			t.Errorf("%s: got error %v, want none", name, err)
			continue
		}
		if p.X.Max != c.actions-0.4 {
			t.Errorf("%s: got an axis that ends at %v", name, p.X.Max)
		}
		var labels []string
		for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.ticks {
			t.Errorf("%s: got ticks %q, want %q", name, got, c.ticks)
		}
	}
	for name, c := range map[string][]lab.Belief{"none": nil, "no functions": {{Truth: some.Truth}}} {
		names := []string{"exact"}[:len(c)]
		if _, err := plot.Beliefs(plot.Axes{}, names, names, c); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	if _, err := plot.Beliefs(plot.Axes{}, nil, nil, []lab.Belief{some}); err == nil {
		t.Error("no names: got no error")
	}
}
