package notebook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/must"
	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

// Keys of Explore that are not settings.
const (
	keyPeriod = "period" // the period of the beliefs
	keySeed   = "seed"   // the seed of the first run
)

// Explore shows the beliefs of a Spec's agents at its last period in its first run, with the true rewards, and the
// regret of all its runs. The Spec must be of one of the paper's experiments. Each key has a control; when the user
// moves it, the figure changes. A key is a setting (`hyper list EXPERIMENT` lists them), "period" for the period of the
// beliefs, or "seed". A key with values, as in "particles=3,10,30", offers these values. Otherwise a slider has a range
// around the setting's value.
//
// The figure follows a slider while the user drags it. There is one exception: some keys need a new program for each
// value, which takes seconds to compile. Programs for the values next to the present one are compiled in advance.
//
// The cell ends when the first figure is shown. Its program continues, and answers the controls until the cell is run
// again or the kernel ends. Therefore code of the cell after Explore does not run. Without the project's kernel there
// are no controls: Explore shows the figure and returns.
func Explore(spec lab.Spec, keys ...string) {
	e, err := newExplorer(spec, keys)
	if err != nil {
		panic(err)
	}
	c := kernel()
	if c == nil {
		must.M1(e.picture(context.Background(), nil, panelsOf)).show()
		return
	}
	must.M(e.open(c))
	if gonbui.IsNotebook {
		arrived()
	}
	must.M(c.Stay())
	<-c.Gone()
}

// Figures of Explore: their size in centimetres, dots per inch, and the number of functions that represent a belief.
const (
	exploreWidth, exploreHeight = 26, 9
	exploreDPI                  = 80
	exploreFunctions            = 500
)

// Times of Explore.
const (
	explorePause    = 100 * time.Millisecond // least time between two figures
	exploreSlow     = 400 * time.Millisecond // time after which the page shows that a figure is being computed
	explorePatience = 2 * time.Second        // time after which a figure is abandoned if a control moves
	exploreIdle     = 500 * time.Millisecond // time without a move after which programs are compiled in advance
)

// explorer computes figures for the values of its controls, one after the other.
type explorer struct {
	text    []byte // the Spec
	keys    []string
	knobs   []knob
	lookers lookers

	mu     sync.Mutex
	set    map[string]string  // values of the controls, by key
	stale  bool               // whether a control has moved since the present figure was begun
	late   bool               // whether the present figure has taken longer than explorePatience
	cancel context.CancelFunc // cancels the computation of the present figure
	moved  chan struct{}
	status *frontend.Widget
	image  *frontend.Widget
}

// knob is a control of a key: its widget, its fields, and functions of its value.
type knob struct {
	key, name string
	fields    map[string]any
	field     string // the field that has the value
	read      func(json.RawMessage) (string, error)
	near      func(now string) []string // the neighbours of a value; nil if the key needs no new program
}

func newExplorer(spec lab.Spec, keys []string) (*explorer, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	e := &explorer{text: text, set: map[string]string{}, moved: make(chan struct{}, 1)}
	if _, _, err := lab.ParseSpec(text, known); err != nil {
		return nil, err
	}
	for _, key := range keys {
		name, values, some := strings.Cut(key, "=")
		k, now, err := knobOf(spec, name)
		if err == nil && some {
			k, err = e.offer(name, strings.Split(values, ","), now)
		}
		if err == nil && slices.Contains(e.keys, name) {
			err = fmt.Errorf("key %q is named twice", name)
		}
		if err != nil {
			return nil, err
		}
		e.keys, e.knobs = append(e.keys, name), append(e.knobs, k)
	}
	return e, nil
}

// offer returns the control of a key with values. If the present value is not among them, it is put first, because
// otherwise the control would show a wrong value.
func (e *explorer) offer(name string, values []string, now string) (knob, error) {
	if !slices.Contains(values, now) {
		values = append([]string{now}, values...)
	}
	for _, v := range values {
		if _, err := e.specWith(map[string]string{name: v}); err != nil {
			return knob{}, err
		}
	}
	k := choiceOf(name, "SelectionSlider", values, now)
	k.fields["continuous_update"] = !shapes(e.keysOf(name))
	return k, nil
}

// keysOf returns the agents' keys of a name.
func (e *explorer) keysOf(name string) (all []catalog.Key) {
	spec, _, err := lab.ParseSpec(e.text, known)
	if err != nil {
		return nil
	}
	for _, entry := range spec.Entries {
		for _, k := range catalog.Keys(entry.Setting) {
			if k.Name == name {
				all = append(all, k)
			}
		}
	}
	return all
}

// shapes reports whether a new value of a key needs a new program, for at least one agent.
func shapes(keys []catalog.Key) bool {
	return slices.ContainsFunc(keys, func(k catalog.Key) bool { return !k.PerRun })
}

// knobOf returns the control of a key, and the key's present value in the first entry that has the key.
func knobOf(spec lab.Spec, name string) (k knob, now string, err error) {
	switch name {
	case keyPeriod:
		return slider(name, spec.Periods, 1, spec.Periods), strconv.Itoa(spec.Periods), nil
	case keySeed:
		return slider(name, int(spec.Seed), int(spec.Seed), int(spec.Seed)+99), strconv.FormatUint(spec.Seed, 10), nil
	}
	names := []string{keyPeriod, keySeed}
	for _, entry := range spec.Entries {
		for _, k := range catalog.Keys(entry.Setting) {
			if k.Name == name {
				return knobFor(k), k.Default, nil
			}
			if !slices.Contains(names, k.Name) {
				names = append(names, k.Name)
			}
		}
	}
	return k, "", fmt.Errorf("no agent here has a key %q%s; the keys are %s", name, nearest.Hint(name, names),
		strings.Join(names, ", "))
}

func knobFor(k catalog.Key) knob {
	text := func(raw json.RawMessage) (s string, err error) { err = json.Unmarshal(raw, &s); return s, err }
	plain := func(raw json.RawMessage) (string, error) { return string(raw), nil }
	switch k.Kind {
	case "int":
		v, _ := strconv.Atoi(k.Default)
		s := slider(k.Name, v, min(v, 1), max(10, 4*v))
		s.fields["continuous_update"] = k.PerRun
		return s
	case "number":
		v, _ := strconv.ParseFloat(k.Default, 64)
		if !(v > 0) || math.IsInf(v, 0) {
			return knob{k.Name, "FloatText", map[string]any{"value": v, "continuous_update": false}, "value", plain, nil}
		}
		at := math.Log10(v)
		return knob{k.Name, "FloatLogSlider", map[string]any{"value": v, "base": 10, "min": math.Floor(at) - 1,
			"max": math.Ceil(at) + 1, "step": 0.05, "continuous_update": k.PerRun, "readout": true,
			"readout_format": ".3g", "orientation": "horizontal"}, "value", plain, nil}
	case "yes or no":
		return knob{k.Name, "Checkbox", map[string]any{"value": k.Default == yes, "indent": false}, "value",
			func(raw json.RawMessage) (string, error) {
				var ticked bool
				err := json.Unmarshal(raw, &ticked)
				return yesOrNo(ticked), err
			}, func(now string) []string { return []string{yesOrNo(now != yes)} }}
	case "choice":
		return choiceOf(k.Name, "Dropdown", k.Choices, k.Default)
	}
	return knob{k.Name, "Text", map[string]any{"value": k.Default, "continuous_update": false}, "value", text, nil}
}

const yes = "yes"

// yesOrNo returns the text of a setting that is yes or no.
func yesOrNo(v bool) string {
	if v {
		return yes
	}
	return "no"
}

func slider(key string, value, from, to int) knob {
	return knob{key, "IntSlider", map[string]any{"value": value, "min": from, "max": to, "step": 1, "readout": true,
		"readout_format": "d", "continuous_update": true, "orientation": "horizontal"}, "value",
		func(raw json.RawMessage) (string, error) { return string(raw), nil },
		func(now string) (near []string) {
			n, _ := strconv.Atoi(now)
			for _, v := range []int{n - 1, n + 1} {
				if v >= from && v <= to {
					near = append(near, strconv.Itoa(v))
				}
			}
			return near
		}}
}

// choiceOf returns a control that offers values, with the present value selected.
func choiceOf(key, name string, values []string, now string) knob {
	fields := map[string]any{"_options_labels": values, "index": max(slices.Index(values, now), 0)}
	if name == "SelectionSlider" {
		fields["orientation"], fields["readout"] = "horizontal", true
	}
	return knob{key, name, fields, "index", func(raw json.RawMessage) (string, error) {
		var i int
		if err := json.Unmarshal(raw, &i); err != nil || i < 0 || i >= len(values) {
			return "", errors.Join(err, fmt.Errorf("there is no choice %s", raw))
		}
		return values[i], nil
	}, func(now string) (near []string) {
		at := slices.Index(values, now)
		for i, v := range values {
			if at >= 0 && (i == at-1 || i == at+1) {
				near = append(near, v)
			}
		}
		return near
	}}
}

// open shows the controls and the first figure, and begins to listen.
func (e *explorer) open(c *frontend.Conn) error {
	first, err := e.picture(context.Background(), e.set, panelsOf)
	if err != nil {
		return err
	}
	var children []string
	for _, k := range e.knobs {
		k.fields["description"] = k.key
		w, err := c.Widget(k.name, k.fields, func(field string, value json.RawMessage) {
			if field == k.field {
				e.move(k, value)
			}
		})
		if err != nil {
			return err
		}
		children = append(children, w.Ref())
	}
	if e.image, err = c.Widget("HTML", map[string]any{"value": first.html()}, nil); err != nil {
		return err
	}
	if e.status, err = c.Widget("HTML", map[string]any{"value": exploreStyle + "move a control"}, nil); err != nil {
		return err
	}
	// The status is last, so that its changing height moves nothing else.
	box, err := c.Widget("VBox", map[string]any{"children": append(children, e.image.Ref(), e.status.Ref()),
		"_dom_classes": []string{exploreClass}}, nil)
	if err != nil {
		return err
	}
	go e.follow()
	return box.Show(map[string]any{"text/html": first.html(), "text/plain": first.alt + "; controls of " +
		strings.Join(e.keys, ", ")})
}

// exploreStyle makes the page show that the program of the controls has ended after a restart. Nothing else can show
// it.
const (
	exploreClass = "hypermodels-explore"
	dead         = "." + exploreClass + ".jupyter-widgets-disconnected"
	exploreStyle = "<style>" + dead + " { pointer-events: none }" + dead + " > * { opacity: 0.5 }" + dead + `::before ` +
		`{ content: "The program of these controls has ended: run the cell"; font: inherit; color: #b00020 }</style>`
)

// move handles a new value of a control.
func (e *explorer) move(k knob, value json.RawMessage) {
	text, err := k.read(value)
	if err != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.set[k.key], e.stale = text, true
	if e.late {
		e.cancel()
	}
	select {
	case e.moved <- struct{}{}:
	default:
	}
}

// follow draws figures for the latest values of the controls as long as the program runs.
func (e *explorer) follow() {
	e.ahead(map[string]string{})
	for range e.moved {
		begin := time.Now()
		ctx, set, end := e.begin()
		now, err := e.picture(ctx, set, sketchPanelsOf)
		left := ctx.Err() != nil
		end()
		switch {
		case left: // The user has moved a control again.
		case err != nil:
			text := strings.ReplaceAll(html.EscapeString(err.Error()), "\n", "<br>")
			e.say(`<span style="color:#b00020">` + text + `</span>`)
		default:
			_ = e.image.Set(map[string]any{"value": now.html()})
			e.say(fmt.Sprintf("computed in %.2g s", time.Since(begin).Seconds()))
		}
		time.Sleep(time.Until(begin.Add(explorePause)))
		e.ahead(set)
	}
}

// begin returns the values of the controls for the next figure. If the figure takes long, the page shows that, and ctx
// ends when a control moves. The caller must call end.
func (e *explorer) begin() (ctx context.Context, set map[string]string, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	e.mu.Lock()
	defer e.mu.Unlock()
	set = maps.Clone(e.set)
	e.cancel, e.stale, e.late = cancel, false, false
	after := func(delay time.Duration, do func()) *time.Timer {
		return time.AfterFunc(delay, func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			if ctx.Err() == nil {
				do()
			}
		})
	}
	slow := after(exploreSlow, func() { e.say("computing") })
	late := after(explorePatience, func() {
		if e.late = true; e.stale {
			cancel()
		}
	})
	return ctx, set, func() {
		slow.Stop()
		late.Stop()
		cancel()
		e.mu.Lock() // waits for the functions of the timers
		defer e.mu.Unlock()
		e.late = false
	}
}

// say replaces the line below the figure.
func (e *explorer) say(text string) {
	_ = e.status.Set(map[string]any{"value": exploreStyle + text})
}

// ahead compiles the programs for the neighbours of the present values in the background, when no control has moved for
// a while. It compiles one after the other, and stops when a control moves.
func (e *explorer) ahead(set map[string]string) {
	near := e.neighbours(set)
	go func() {
		time.Sleep(exploreIdle)
		e.lookers.ahead.Lock()
		defer e.lookers.ahead.Unlock()
		for _, other := range near {
			e.mu.Lock()
			same := maps.Equal(e.set, set)
			e.mu.Unlock()
			if !same {
				return
			}
			if spec, err := e.specWith(other); err == nil {
				_ = e.lookers.compile(spec)
			}
		}
	}()
}

// neighbours returns the settings that differ from the present ones by one step of one control, for keys that need new
// programs.
func (e *explorer) neighbours(set map[string]string) (all []map[string]string) {
	for _, k := range e.knobs {
		keys := e.keysOf(k.key)
		if k.near == nil || !shapes(keys) {
			continue
		}
		now, ok := set[k.key]
		if !ok {
			now = keys[0].Default
		}
		for _, v := range k.near(now) {
			other := maps.Clone(set)
			other[k.key] = v
			all = append(all, other)
		}
	}
	return all
}

// specWith returns the Spec with the given settings.
func (e *explorer) specWith(set map[string]string) (spec lab.Spec, err error) {
	if spec, _, err = lab.ParseSpec(e.text, known); err != nil {
		return spec, err
	}
	for key, text := range set {
		if key == keyPeriod {
			continue
		}
		if key == keySeed {
			if spec.Seed, err = strconv.ParseUint(text, 10, 64); err != nil {
				return spec, fmt.Errorf("seed: %w", err)
			}
			continue
		}
		for _, entry := range spec.Entries {
			if catalog.HasKey(entry.Setting, key) {
				if err := catalog.Set(entry.Setting, key, text); err != nil {
					return spec, err
				}
			}
		}
	}
	return spec, spec.Validate()
}

// picture draws the beliefs and the regret for the values of the controls. draw arranges both, for example panelsOf.
func (e *explorer) picture(ctx context.Context, set map[string]string, draw func(int, float64, float64, int,
	...*gonum.Plot) (picture, error)) (p picture, err error) {
	spec, err := e.specWith(set)
	if err != nil {
		return p, err
	}
	period := spec.Periods
	if text, ok := set[keyPeriod]; ok {
		if period, err = strconv.Atoi(text); err != nil {
			return p, fmt.Errorf("period: %w", err)
		}
	}
	rows, beliefs, err := e.lookers.look(ctx, spec, period)
	if err != nil {
		return p, err
	}
	curves := analysis.Curves(lab.Header{Spec: spec}, rows)
	var agents []string
	for _, entry := range spec.Entries {
		agents = append(agents, entry.Agent)
	}
	labels := plot.Labels(curves)
	var panels []*gonum.Plot
	belief, err := plot.Beliefs(plot.Axes{Title: fmt.Sprintf("Belief after %d periods, seed %d", period, spec.Seed),
		X: "action", Y: "mean reward"}, agents, labels, beliefs)
	if err == nil {
		panels = append(panels, belief)
	}
	title := fmt.Sprintf("Regret, median and quartiles of %d runs", spec.Runs)
	if spec.Runs == 1 {
		title = "Regret of this run"
	}
	regret, err := plot.Regret(curves, plot.Options{Title: title, Labels: labels, Quartiles: true})
	if err != nil {
		return p, err
	}
	return draw(2, exploreWidth, exploreHeight, exploreDPI, append(panels, regret)...)
}
