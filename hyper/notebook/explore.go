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

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

// Keys of Explore that are none of the settings.
const (
	keyPeriod = "period" // at which one looks
	keySeed   = "seed"   // of the first run
)

// Explore shows what the agents of a Spec of the paper's experiments believe at its last period in its first run,
// beside the truth, and the regret of all its runs, with a control for each key: whoever moves a slider sees the belief
// anew. A key is one of the settings (`hyper list EXPERIMENT` has them), "period" at which one looks, or "seed". A key
// with values, as in "particles=3,10,30", offers these; else a slider has a range about the setting's value.
//
// The figure follows a slider while it is dragged, but for keys that shape the computation: their values need a program
// of their own, which takes seconds to compile. Those next to the present value are compiled ahead.
//
// The cell ends when the first figure is there, while its program goes on, and answers the controls until the cell is
// run again or the kernel ends; so nothing of the cell that stands after Explore is carried out. Without the project's
// kernel there are no controls: Explore shows the figure and returns.
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

// The figures of Explore: size in centimetres, dots per inch, and how many functions a belief is drawn by.
const (
	exploreWidth, exploreHeight = 26, 9
	exploreDPI                  = 80
	exploreFunctions            = 500
)

// Times of Explore.
const (
	explorePause    = 100 * time.Millisecond // the least between two figures
	exploreSlow     = 400 * time.Millisecond // after which the page is told that one is computed
	explorePatience = 2 * time.Second        // after which one is left when a control moves; drags see those before
	exploreIdle     = 500 * time.Millisecond // after which, without a move, one compiles ahead
)

// explorer computes figures, one after the other, for what its controls say.
type explorer struct {
	text    []byte // the Spec
	keys    []string
	knobs   []knob
	lookers lookers

	mu     sync.Mutex
	set    map[string]string  // what the controls say, by key
	stale  bool               // whether they have said it since the present figure was begun
	late   bool               // whether that has taken longer than explorePatience
	cancel context.CancelFunc // ends what is computed for the present figure
	moved  chan struct{}
	status *frontend.Widget
	image  *frontend.Widget
}

// knob is a control for a key: its name, its fields, and how its value is read as a setting's text.
type knob struct {
	key, name string
	fields    map[string]any
	field     string // that tells the value
	read      func(json.RawMessage) (string, error)
	near      func(now string) []string // the values next to one; nil of a key that shapes no computation
}

func newExplorer(spec lab.Spec, keys []string) (*explorer, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	e := &explorer{text: text, set: map[string]string{}, moved: make(chan struct{}, 1)}
	if _, _, err := lab.ParseSpec(text, paper.Known); err != nil {
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

// offer is the control of a key with values. One that is none of them would show what it does not say: the present
// value is offered first where it is missing.
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

// keysOf is what the agents have of a key's name.
func (e *explorer) keysOf(name string) (all []lab.Key) {
	spec, _, err := lab.ParseSpec(e.text, paper.Known)
	if err != nil {
		return nil
	}
	for _, entry := range spec.Entries {
		for _, k := range lab.Keys(entry.Setting) {
			if k.Name == name {
				all = append(all, k)
			}
		}
	}
	return all
}

// shapes reports whether another value of a key needs another compiled program, for at least one agent.
func shapes(keys []lab.Key) bool {
	return slices.ContainsFunc(keys, func(k lab.Key) bool { return !k.PerRun })
}

// knobOf is the control of a key, and its present value, of the first entry that has it.
func knobOf(spec lab.Spec, name string) (k knob, now string, err error) {
	switch name {
	case keyPeriod:
		return slider(name, spec.Periods, 1, spec.Periods), strconv.Itoa(spec.Periods), nil
	case keySeed:
		return slider(name, int(spec.Seed), int(spec.Seed), int(spec.Seed)+99), strconv.FormatUint(spec.Seed, 10), nil
	}
	names := []string{keyPeriod, keySeed}
	for _, entry := range spec.Entries {
		for _, k := range lab.Keys(entry.Setting) {
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

func knobFor(k lab.Key) knob {
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

// yesOrNo is the text of a setting that is yes or no.
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

// choiceOf is a control that offers values, and begins at the present one.
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
	// The status is last, so that its lines move nothing.
	box, err := c.Widget("VBox", map[string]any{"children": append(children, e.image.Ref(), e.status.Ref()),
		"_dom_classes": []string{exploreClass}}, nil)
	if err != nil {
		return err
	}
	go e.follow()
	return box.Show(map[string]any{"text/html": first.html(), "text/plain": first.alt + "; controls of " +
		strings.Join(e.keys, ", ")})
}

// exploreStyle says on the page, when a restart has ended the program, that its controls are dead: nobody else can.
const (
	exploreClass = "hypermodels-explore"
	dead         = "." + exploreClass + ".jupyter-widgets-disconnected"
	exploreStyle = "<style>" + dead + " { pointer-events: none }" + dead + " > * { opacity: 0.5 }" + dead + `::before ` +
		`{ content: "The program of these controls has ended: run the cell"; font: inherit; color: #b00020 }</style>`
)

// move hears of a control.
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

// follow draws for the latest state of the controls, as long as the program lives.
func (e *explorer) follow() {
	e.ahead(map[string]string{})
	for range e.moved {
		begin := time.Now()
		ctx, set, end := e.begin()
		now, err := e.picture(ctx, set, sketchPanelsOf)
		left := ctx.Err() != nil
		end()
		switch {
		case left: // There is a later one.
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

// begin takes what the controls say, to be drawn. Where that takes long the page is told, and the context ends when the
// controls say something else. The caller calls end.
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
		e.mu.Lock() // of the timers' functions, which may be at work
		defer e.mu.Unlock()
		e.late = false
	}
}

// say replaces the line below the figure.
func (e *explorer) say(text string) {
	_ = e.status.Set(map[string]any{"value": exploreStyle + text})
}

// ahead compiles, in the background, what the neighbours of the present values need, once no control has moved for a
// while. It does one after the other, and leaves the rest when a control is moved.
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

// neighbours are the settings that one step of one control makes, of keys that shape the computation.
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

// specWith is the Spec with settings that are given, and the period at which to look.
func (e *explorer) specWith(set map[string]string) (spec lab.Spec, err error) {
	if spec, _, err = lab.ParseSpec(e.text, paper.Known); err != nil {
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
			if lab.HasKey(entry.Setting, key) {
				if err := lab.Set(entry.Setting, key, text); err != nil {
					return spec, err
				}
			}
		}
	}
	return spec, spec.Validate()
}

// picture draws the belief and the regret for what the controls say, side by side by a function such as panelsOf.
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
	curves := lab.Curves(lab.Header{Spec: spec}, rows)
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
