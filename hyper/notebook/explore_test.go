package notebook

import (
	"bytes"
	"context"
	"image/png"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

func exploring(t *testing.T, agents, sets []string, keys ...string) *explorer {
	t.Helper()
	spec := must.M1(paper.Gaussian.Spec(agents, sets, lab.Size{Periods: 30, Runs: 2}, 7))
	return must.M1(newExplorer(spec, keys))
}

// The figure is that of what the controls say, and the same again for the same.
func TestExplorePictures(t *testing.T) {
	e := exploring(t, []string{"exact", "linear"}, []string{"arms=5"}, "index-dim", "period", "seed")
	of := func(set map[string]string) []byte { return must.M1(e.picture(context.Background(), set)).png }
	first := of(nil)
	must.M1(png.Decode(bytes.NewReader(first)))
	for _, set := range []map[string]string{{"index-dim": "2"}, {"period": "3"}, {"seed": "8"}, {"noise-variance": "4"}} {
		if bytes.Equal(first, of(set)) {
			t.Errorf("%v changes nothing", set)
		}
	}
	if !bytes.Equal(first, of(map[string]string{"period": "30", "seed": "7", "index-dim": "10"})) {
		t.Error("another figure for the same settings")
	}
	for set, want := range map[string]string{"index-dim": "index-dim must be", "seed": "seed", "period": "period"} {
		_, err := e.picture(context.Background(), map[string]string{set: "-1"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s=-1: %v", set, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.picture(ctx, nil); err == nil {
		t.Error("what nobody waits for is computed")
	}
}

// Keys that differ in numbers alone compile once.
func TestExploreCompilesOnce(t *testing.T) {
	e := exploring(t, []string{"linear"}, []string{"arms=3"}, "step-size")
	must.M1(e.picture(context.Background(), nil))
	before := lab.Compilations()
	for _, step := range []string{"0.1", "0.2"} {
		must.M1(e.picture(context.Background(), map[string]string{"step-size": step}))
	}
	if n := lab.Compilations() - before; n != 0 {
		t.Errorf("%d compilations", n)
	}
}

func TestKnobs(t *testing.T) {
	spec := must.M1(paper.Gaussian.Spec([]string{"linear"}, nil, lab.Size{Periods: 30, Runs: 2}, 7))
	keys := []string{"index-dim", "step-size", "policy", "optimizer=sgd,adam", "period", "seed", "delay"}
	e := must.M1(newExplorer(spec, keys))
	for i, want := range []struct{ name, raw, text string }{
		{"IntSlider", "3", "3"}, {"FloatLogSlider", "0.5", "0.5"}, {"Dropdown", "1", "ids"}, {"SelectionSlider", "1", "adam"},
		{"IntSlider", "4", "4"}, {"IntSlider", "9", "9"}, {"IntSlider", "2", "2"},
	} {
		k := e.knobs[i]
		if text := must.M1(k.read([]byte(want.raw))); k.name != want.name || text != want.text {
			t.Errorf("%s is %s, %s is read as %s", k.key, k.name, want.raw, text)
		}
	}
	if _, err := e.knobs[2].read([]byte("100")); err == nil {
		t.Error("a choice that there is not")
	}
	for key, want := range map[string]string{
		"index-dims": "did you mean", "index-dim=0,3": "index-dim", "particles": "no agent here has a key",
	} {
		if _, err := newExplorer(spec, []string{key}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", key, err)
		}
	}
	if _, err := newExplorer(spec, []string{"seed", "seed"}); err == nil {
		t.Error("one key twice")
	}
}

// Sliders over a linear hypermodel's index dimension and step size, and over how far the run is.
func ExampleExplore() {
	spec := must.M1(paper.Gaussian.Spec([]string{"linear"}, []string{"arms=5"}, lab.Size{Periods: 20, Runs: 4}, 1))
	Explore(spec, "index-dim=1,3,10", "step-size", "period")
	// Output:
}
