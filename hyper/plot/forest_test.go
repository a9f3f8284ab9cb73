package plot_test

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/plot"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// A forest plot has a row for each label, with its note, and an estimate that may be only an interval. Intervals are
// cut at the ends of the axis.
func TestForest(t *testing.T) {
	rows := []plot.ForestRow{
		{Label: "first", Note: "holds", Color: plot.Palette[2],
			Estimates: []stats.Estimate{{Value: 0.5, Lower: 0.3, Upper: 0.8}, {Value: 0.7, Lower: 1e-9,
				Upper: stats.Float(math.Inf(1))}}},
		{Label: "second", Note: "open", Color: plot.Gray, Estimates: []stats.Estimate{{Value: stats.Float(math.NaN()), Upper: 3}}},
		{Label: "third", Note: "to be run", Color: plot.Gray},
	}
	p := must.M1(plot.Forest("Title", "axis", 0.1, 10, rows))
	path := t.TempDir() + "/forest"
	must.M(plot.Save(p, path))
	if p.X.Min != 0.1 || p.X.Max != 10 {
		t.Errorf("got an axis from %v to %v, want 0.1 to 10", p.X.Min, p.X.Max)
	}
	text := string(must.M1(os.ReadFile(path + ".svg")))
	for _, want := range []string{"first", "second", "third", "holds", "to be run", "Title"} {
		if !strings.Contains(text, ">"+want) && !strings.Contains(text, want+"<") {
			t.Errorf("the figure has no text %q", want)
		}
	}
	if bytes.Count([]byte(text), []byte("<path")) < 10 {
		t.Error("the figure has fewer than 10 lines")
	}
	for name, bad := range map[string]func() error{
		"no rows":          func() error { _, err := plot.Forest("", "", 0.1, 10, nil); return err },
		"an axis below 1":  func() error { _, err := plot.Forest("", "", 0.1, 0.9, rows); return err },
		"an axis from 0":   func() error { _, err := plot.Forest("", "", 0, 10, rows); return err },
		"an axis from NaN": func() error { _, err := plot.Forest("", "", math.NaN(), 10, rows); return err },
	} {
		if bad() == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}
