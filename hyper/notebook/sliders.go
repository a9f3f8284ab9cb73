package notebook

import (
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/must"
	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
)

// Slider is a control of [Sliders]: the numbers that it offers.
type Slider struct {
	Name   string
	Values []float64
	At     int // position of the first number that is shown
}

// Sliders shows the plots that draw makes for the numbers of the sliders, side by side, and draws them again when the
// user moves a slider. It is for models of a notebook's own; [Explore] is for experiments. If draw panics, the page
// shows the error.
//
// The cell ends when the first figure is shown, as with [Explore]: its program continues, and code after Sliders does
// not run. Without the project's kernel, Sliders shows the first figure and returns.
func Sliders(draw func(values []float64) []*gonum.Plot, sliders ...Slider) {
	s := &slides{draw: draw, sliders: sliders, moved: make(chan struct{}, 1)}
	for _, one := range sliders {
		s.values = append(s.values, one.Values[one.At])
	}
	first := must.M1(s.picture(s.values))
	c := kernel()
	if c == nil {
		first.show()
		return
	}
	must.M(s.open(c, first))
	if gonbui.IsNotebook {
		arrived()
	}
	must.M(c.Stay())
	<-c.Gone()
}

// slides draws figures for the numbers of sliders, one after the other.
type slides struct {
	draw    func(values []float64) []*gonum.Plot
	sliders []Slider
	moved   chan struct{}
	status  *frontend.Widget
	image   *frontend.Widget

	mu     sync.Mutex
	values []float64
}

// picture draws a figure. A panic of draw becomes an error.
func (s *slides) picture(values []float64) (p picture, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	plots := s.draw(values)
	return panelsOf(len(plots), exploreWidth, exploreHeight, exploreDPI, plots...)
}

// open shows the controls and the first figure, and begins to listen.
func (s *slides) open(c *frontend.Conn, first picture) (err error) {
	var children, names []string
	for i, one := range s.sliders {
		var labels []string
		for _, v := range one.Values {
			labels = append(labels, strconv.FormatFloat(v, 'g', -1, 64))
		}
		k := choiceControl(one.Name, "SelectionSlider", labels, labels[one.At])
		k.fields["description"], k.fields["continuous_update"] = one.Name, false
		w, err := c.Widget(k.name, k.fields, func(field string, raw json.RawMessage) {
			if text, err := k.read(raw); field == k.field && err == nil {
				s.move(i, one.Values[slices.Index(labels, text)])
			}
		})
		if err != nil {
			return err
		}
		children, names = append(children, w.Ref()), append(names, one.Name)
	}
	if s.image, err = c.Widget("HTML", map[string]any{"value": first.html()}, nil); err != nil {
		return err
	}
	if s.status, err = c.Widget("HTML", map[string]any{"value": exploreStyle + "move a control"}, nil); err != nil {
		return err
	}
	box, err := c.Widget("VBox", map[string]any{"children": append(children, s.image.Ref(), s.status.Ref()),
		"_dom_classes": []string{exploreClass}}, nil)
	if err != nil {
		return err
	}
	go s.follow()
	return box.Show(map[string]any{"text/html": first.html(),
		"text/plain": first.alt + "; controls of " + strings.Join(names, ", ")})
}

// move handles a new number of a slider.
func (s *slides) move(i int, v float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[i] = v
	select {
	case s.moved <- struct{}{}:
	default:
	}
}

// follow draws figures for the latest numbers as long as the program runs.
func (s *slides) follow() {
	for range s.moved {
		s.mu.Lock()
		values := slices.Clone(s.values)
		s.mu.Unlock()
		_ = s.status.Set(map[string]any{"value": exploreStyle + "computing"})
		begin := time.Now()
		now, err := s.picture(values)
		text := fmt.Sprintf("computed in %.2g s", time.Since(begin).Seconds())
		if err == nil {
			_ = s.image.Set(map[string]any{"value": now.html()})
		} else {
			text = `<span style="color:#b00020">` + html.EscapeString(err.Error()) + `</span>`
		}
		_ = s.status.Set(map[string]any{"value": exploreStyle + text})
	}
}
