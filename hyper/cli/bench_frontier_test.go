package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/paper"
)

// The points of the committed study with 10 arms that train by sampled indices: ratios are the quotients of the lines.
func TestBenchFrontier(t *testing.T) {
	study := must.M1(filepath.Abs("../../notebooks/results/frontier/arms10[^0]*.gz"))
	neural := must.M1(filepath.Abs("../../notebooks/results/neural/*.gz"))
	quick := []string{"bench", "frontier", "10", "--study", study, "--rounds", "1", "--time", "1ms"}
	status, stdout, stderr := call(t, append(quick, "--json")...)
	if status != 0 {
		t.Fatalf("exit status %d, want 0: %s", status, stderr)
	}
	linear := map[paper.Bar]map[string]paper.FrontierTime{paper.PerformsWell: {}, paper.TwiceExact: {}}
	ratios := 0
	for line := range strings.Lines(stdout) {
		var p paper.FrontierTime
		must.M(json.Unmarshal([]byte(line), &p))
		if p.Arms != 10 || len(p.Setting) < 4 || p.Micros <= 0 || p.Backend != "go" ||
			p.Computation.Value < p.Computation.Lower || p.Computation.Value > p.Computation.Upper {
			t.Errorf("got line %s, want a point with its setting, time and computation", line)
		}
		if p.Agent == "linear" {
			linear[p.Bar][p.Integrate] = p
		} else if l, ok := linear[p.Bar][p.Integrate]; ok {
			ratios++
			if p.Ratio.Value != p.Computation.Value/l.Computation.Value || float64(p.MicrosRatio) != p.Micros/l.Micros {
				t.Errorf("want the ratio of %v to %v, and of the times: %s",
					p.Computation.Value, l.Computation.Value, line)
			}
		}
	}
	first := linear[paper.PerformsWell]["sampled"]
	if first.Agent == "" || ratios == 0 {
		t.Errorf("%d ratios, want that of the paper's way to train at least:\n%s", ratios, stdout)
	}
	status, table, stderr := call(t, quick...)
	want := "\n10    0.01 sqrt(K) sampled    linear    " + first.Found()
	if status != 0 || strings.Count(table, "\n") != 1+strings.Count(stdout, "\n") || !strings.Contains(table, want) {
		t.Errorf("exit status %d, want 0: %s\ngot no line %q in\n%s", status, stderr, want, table)
	}
	refuses(t, map[string]string{
		"bench frontier":                                "--study notebooks/results/frontier/*.gz: no such file or folder",
		"bench frontier 7 --study " + study:             `no point with "7" arms; it has points with 10`,
		"bench frontier 10 --rounds 0 --study " + study: "must be positive",
		"bench frontier --study " + neural:              "has results of experiment neural, not of frontier",
	})
}
