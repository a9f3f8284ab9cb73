package notebook

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

func exploring(t *testing.T, agents, sets []string, keys ...string) *explorer {
	t.Helper()
	spec := must.M1(paper.Gaussian.Spec(agents, sets, lab.Size{Periods: 30, Runs: 2}, 7))
	return must.M1(newExplorer(spec, keys))
}

// The figure depends on the values of the controls, and equal values give equal figures. Settings that differ only in
// numbers compile once.
func TestExplorePictures(t *testing.T) {
	e := exploring(t, []string{"exact", "linear"}, []string{"arms=5"}, "index-dim", "period", "seed")
	of := func(set map[string]string) []byte { return must.M1(e.picture(context.Background(), set, panelsOf)).png }
	first := of(nil)
	must.M1(png.Decode(bytes.NewReader(first)))
	before := lab.Compilations()
	for _, set := range []map[string]string{{"period": "3"}, {"seed": "8"}, {"noise-variance": "4"}, {"index-dim": "2"}} {
		if n := lab.Compilations() - before; n != 0 {
			t.Errorf("before %v: got %d compilations, want none", set, n)
		}
		if bytes.Equal(first, of(set)) {
			t.Errorf("setting %v has no effect on the figure", set)
		}
	}
	if !bytes.Equal(first, of(map[string]string{"period": "30", "seed": "7", "index-dim": "10"})) {
		t.Error("the same settings give another figure")
	}
	for set, want := range map[string]string{"index-dim": "index-dim must be", "seed": "seed", "period": "period"} {
		_, err := e.picture(context.Background(), map[string]string{set: "-1"}, panelsOf)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s=-1: got error %v, want one that names the key", set, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.picture(ctx, nil, panelsOf); err == nil {
		t.Error("a canceled figure is computed")
	}
}

// A value that was visited, and its neighbours, need no further compilation.
func TestExploreCompilesAhead(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles several programs")
	}
	e := exploring(t, []string{"linear"}, []string{"arms=3"}, "index-dim", "step-size", "period", "policy=thompson,ids")
	if got := e.neighbours(map[string]string{"index-dim": "1", "period": "3"}); len(got) != 2 ||
		!maps.Equal(got[0], map[string]string{"index-dim": "2", "period": "3"}) ||
		!maps.Equal(got[1], map[string]string{"index-dim": "1", "period": "3", "policy": "ids"}) {
		t.Errorf("got neighbours %v", got)
	}
	e = exploring(t, []string{"linear"}, []string{"arms=3"}, "index-dim=1,2,3,10")
	e.set = map[string]string{"index-dim": "2"}
	must.M1(e.picture(t.Context(), e.set, panelsOf))
	e.compileAhead(e.set)
	for { // until the compilation has begun or ended
		if n := len(e.neighbours(e.set)); len(e.programs.shapes()) == n+1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	e.programs.ahead.Lock() // The compilation has ended.
	before := lab.Compilations()
	e.programs.ahead.Unlock()
	for _, dim := range []string{"1", "2", "3"} {
		must.M1(e.picture(t.Context(), map[string]string{"index-dim": dim}, panelsOf))
	}
	if n := lab.Compilations() - before; n != 0 {
		t.Errorf("got %d compilations, want none", n)
	}
	for dim := range mostPrograms {
		e.programs.of(must.M1(e.specWith(map[string]string{"index-dim": strconv.Itoa(20 + dim)})))
	}
	if n := len(e.programs.shapes()); n != mostPrograms {
		t.Errorf("%d programs are kept, want the maximum", n)
	}
}

// onPage simulates the front end: it returns the messages of an explorer, and a function that sends messages.
func onPage(t *testing.T) (c *frontend.Conn, heard chan frontend.Message, say func(comm, data string)) {
	t.Helper()
	dir := must.M1(os.MkdirTemp("", "f")) // The path of a socket must be short.
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "f")
	l := must.M1(net.Listen("unix", path))
	t.Cleanup(func() { l.Close() })
	t.Setenv(frontend.Var, path)
	c = must.M1(frontend.Open())
	conn := must.M1(l.Accept())
	heard = make(chan frontend.Message, 10_000)
	go func() {
		lines := bufio.NewScanner(conn)
		lines.Buffer(nil, frontend.LongestLine)
		for lines.Scan() {
			var m frontend.Message
			must.M(json.Unmarshal(lines.Bytes(), &m))
			heard <- m
		}
	}()
	return c, heard, func(comm, data string) {
		content := json.RawMessage(`{"comm_id":"` + comm + `","data":` + data + `}`)
		m := frontend.Message{Type: "comm_msg", Content: content}
		must.M1(conn.Write(append(must.M1(json.Marshal(m)), '\n')))
	}
}

// A page without widgets shows the picture. A page with widgets draws while a slider is dragged, and moves nothing.
func TestExploreOnAPage(t *testing.T) {
	e := exploring(t, []string{"exact"}, []string{"arms=3"}, "period")
	c, heard, say := onPage(t)
	must.M(e.open(c))
	comms, shown := map[string]map[string]any{}, map[string]any{}
	for len(shown) == 0 {
		var body struct {
			ID   string `json:"comm_id"`
			Data map[string]any
		}
		m := <-heard
		must.M(json.Unmarshal(m.Content, &body))
		switch m.Type {
		case "comm_open":
			comms[body.ID] = body.Data["state"].(map[string]any)
		case "display_data":
			shown = body.Data
		}
	}
	if html, _ := shown["text/html"].(string); !strings.HasPrefix(html, `<img alt="Belief after 30 periods, seed 7`) ||
		shown["text/plain"] == nil || shown["application/vnd.jupyter.widget-view+json"] == nil {
		t.Errorf("got display %.300v, want a picture, a text and a widget", shown)
	}
	var slider, image, status, box string
	for id, state := range comms {
		value, _ := state["value"].(string)
		switch {
		case state["_model_name"] == "IntSliderModel":
			slider = id
		case state["_model_name"] == "VBoxModel":
			box = id
		case strings.Contains(value, "<img "):
			image = id
		case strings.Contains(value, "run the cell"):
			status = id
		}
	}
	want := fmt.Sprint([]string{"IPY_MODEL_" + slider, "IPY_MODEL_" + image, "IPY_MODEL_" + status})
	if got := fmt.Sprint(comms[box]["children"]); got != want || comms[slider]["continuous_update"] != true ||
		fmt.Sprint(comms[box]["_dom_classes"]) != "["+exploreClass+"]" {
		t.Errorf("the box has %s, want %s; the slider is %v", got, want, comms[slider])
	}
	for period := range 20 { // as a slider is dragged
		say(slider, fmt.Sprintf(`{"method":"update","state":{"value":%d}}`, period+1))
		time.Sleep(20 * time.Millisecond)
	}
	pictures, last := 0, ""
	for deadline := time.After(time.Minute); !strings.Contains(last, "after 20 periods"); {
		select {
		case m := <-heard:
			var body struct {
				ID   string `json:"comm_id"`
				Data struct{ State struct{ Value string } }
			}
			must.M(json.Unmarshal(m.Content, &body))
			if body.ID == image {
				pictures, last = pictures+1, body.Data.State.Value[:100]
			}
		case <-deadline:
			t.Fatalf("timeout after %d pictures, the last one %s", pictures, last)
		}
	}
	if pictures < 2 {
		t.Errorf("got %d pictures while the slider is dragged, want at least 2", pictures)
	}
}

// A choice is set before the keys that follow it, whose values it would replace.
func TestExploreSetsChoicesFirst(t *testing.T) {
	e := exploring(t, []string{"linear"}, []string{"arms=3", "policy=ucb"}, "policy", "policy-quantile", "policy-samples")
	spec := must.M1(e.specWith(map[string]string{"anneal": "5", "policy": "egreedy"}))
	if v := catalog.Values(spec.Entries[0].Setting); v["anneal"] != 5.0 {
		t.Errorf("got anneal %v, want 5", v["anneal"])
	}
	for range 20 { // the order of a map is random
		spec := must.M1(e.specWith(map[string]string{"policy-quantile": "0.8", "policy-samples": "7", "policy": "ucb"}))
		if v := catalog.Values(spec.Entries[0].Setting); v["policy-quantile"] != 0.8 || v["policy-samples"] != 7 {
			t.Fatalf("got the quantile %v of %v functions, want 0.8 of 7", v["policy-quantile"], v["policy-samples"])
		}
	}
}

func TestControls(t *testing.T) {
	spec := must.M1(paper.Gaussian.Spec([]string{"linear"}, nil, lab.Size{Periods: 30, Runs: 2}, 7))
	keys := []string{"index-dim", "step-size", "policy", "optimizer=sgd,adam", "period", "seed", "delay"}
	e := must.M1(newExplorer(spec, keys))
	for i, want := range []struct{ name, raw, text string }{
		{"IntSlider", "3", "3"}, {"FloatLogSlider", "0.5", "0.5"}, {"Dropdown", "1", "ids"}, {"SelectionSlider", "1", "adam"},
		{"IntSlider", "4", "4"}, {"IntSlider", "9", "9"}, {"IntSlider", "2", "2"},
	} {
		k := e.controls[i]
		if text := must.M1(k.read([]byte(want.raw))); k.name != want.name || text != want.text {
			t.Errorf("control of %s: got %s; %s is read as %s", k.key, k.name, want.raw, text)
		}
	}
	if _, err := e.controls[2].read([]byte("100")); err == nil {
		t.Error("choice that does not exist: got no error")
	}
	prior := must.M1(paper.AdditivePrior.Spec([]string{"ensemble"}, []string{"particles=3", "additive-prior=yes"},
		lab.Size{Periods: 3, Runs: 1}, 7))
	ticked := must.M1(newExplorer(prior, []string{"additive-prior"}))
	k := ticked.controls[0]
	off, on := must.M1(k.read([]byte("false"))), must.M1(k.read([]byte("true")))
	if k.name != "Checkbox" || k.fields["value"] != true || off != "no" || on != "yes" || k.near("yes")[0] != "no" {
		t.Errorf("check box: got %+v, states %s and %s", k, off, on)
	}
	for _, text := range []string{off, on, k.near("no")[0]} {
		if _, err := ticked.specWith(map[string]string{"additive-prior": text}); err != nil {
			t.Error(err)
		}
	}
	for key, want := range map[string]string{
		"index-dims": "did you mean", "index-dim=0,3": "index-dim", "particles": "no agent here has a key",
	} {
		if _, err := newExplorer(spec, []string{key}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one that says why", key, err)
		}
	}
	if _, err := newExplorer(spec, []string{"seed", "seed"}); err == nil {
		t.Error("key given twice: got no error")
	}
	spec.Seed = 1 << 63
	if _, err := newExplorer(spec, []string{"seed"}); err == nil || !strings.Contains(err.Error(), `"seed=1,2,3"`) {
		t.Errorf("slider of a seed of 2^63: got error %v, want one that advises a list", err)
	}
	must.M1(newExplorer(spec, []string{"seed=1,2,3"}))
}

// Sliders for a linear hypermodel's index dimension and step size, and for the period.
func ExampleExplore() {
	spec := must.M1(paper.Gaussian.Spec([]string{"linear"}, []string{"arms=5"}, lab.Size{Periods: 20, Runs: 4}, 1))
	Explore(spec, "index-dim=1,3,10", "step-size", "period")
	// Output:
}
