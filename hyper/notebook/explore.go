package notebook

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
)

// Explore shows the beliefs of a Spec's agents at its last period in its first run, with the true rewards, and the
// regret of all its runs. The Spec must be of an experiment of the paper or of later work. Each key has a control; when
// the user moves it, the figure changes. A key is a setting (`hyper list EXPERIMENT` lists them), "period" for the
// period of the beliefs, or "seed". A key with values, as in "particles=3,10,30", offers these values. Otherwise a
// slider has a range around the setting's value.
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
	stay(c)
}

// stay ends the cell, and returns when the kernel has closed the connection.
func stay(c *frontend.Conn) {
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
	text     []byte // the Spec
	keys     []string
	controls []control
	programs beliefPrograms

	mu     sync.Mutex
	set    map[string]string  // values of the controls, by key
	stale  bool               // whether a control has moved since the present figure was begun
	late   bool               // whether the present figure has taken longer than explorePatience
	cancel context.CancelFunc // cancels the computation of the present figure
	moved  chan struct{}
	panel
}

func newExplorer(spec lab.Spec, keys []string) (*explorer, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	e := &explorer{text: text, set: map[string]string{}, moved: make(chan struct{}, 1)}
	if _, err := lab.ParseSpec(text, Known); err != nil {
		return nil, err
	}
	for _, key := range keys {
		name, values, some := strings.Cut(key, "=")
		k, now, err := controlOf(spec, name)
		switch {
		case err != nil:
		case slices.Contains(e.keys, name):
			err = fmt.Errorf("key %q is named twice", name)
		case some:
			k, err = e.choices(name, strings.Split(values, ","), now)
		case name == keySeed && spec.Seed > largestSeed:
			err = fmt.Errorf("the seed %d is too large for a slider: give values, as in \"seed=1,2,3\"", spec.Seed)
		}
		if err != nil {
			return nil, err
		}
		e.keys, e.controls = append(e.keys, name), append(e.controls, k)
	}
	return e, nil
}

// choices returns the control of a key with values. If the present value is not among them, it is put first, because
// otherwise the control would show a wrong value.
func (e *explorer) choices(name string, values []string, now string) (control, error) {
	if !slices.Contains(values, now) {
		values = append([]string{now}, values...)
	}
	for _, v := range values {
		if _, err := e.specWith(map[string]string{name: v}); err != nil {
			return control{}, err
		}
	}
	k := choiceControl(name, "SelectionSlider", values, now)
	k.fields["continuous_update"] = !needProgram(e.keysOf(name))
	return k, nil
}

// open shows the controls and the first figure, and begins to listen.
func (e *explorer) open(c *frontend.Conn) error {
	first, err := e.picture(context.Background(), e.set, panelsOf)
	if err != nil {
		return err
	}
	e.panel, err = newPanel(c, e.controls, first, func(i int, value json.RawMessage) { e.move(e.controls[i], value) })
	if err != nil {
		return err
	}
	go e.follow()
	return e.show()
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
func (e *explorer) move(k control, value json.RawMessage) {
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
	e.compileAhead(map[string]string{})
	for range e.moved {
		begin := time.Now()
		ctx, set, end := e.begin()
		now, err := e.picture(ctx, set, sketchPanelsOf)
		left := ctx.Err() != nil
		end()
		if !left { // the user has not moved a control again
			e.update(now, err, begin)
		}
		time.Sleep(time.Until(begin.Add(explorePause)))
		e.compileAhead(set)
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
	slow := after(exploreSlow, func() { e.setStatus("computing") })
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
