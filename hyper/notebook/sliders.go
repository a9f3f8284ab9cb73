package notebook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

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
		if one.At < 0 || one.At >= len(one.Values) {
			panic(fmt.Errorf("slider %q cannot begin at position %d: it has %d values", one.Name, one.At, len(one.Values)))
		}
		s.values = append(s.values, one.Values[one.At])
	}
	plots := draw(s.values) // If it panics, the cell's error names the line.
	first := must.M1(panelsOf(len(plots), exploreWidth, exploreHeight, exploreDPI, plots...))
	c := kernel()
	if c == nil {
		first.show()
		return
	}
	must.M(s.open(c, first))
	stay(c)
}

// slides draws figures for the numbers of sliders, one after the other.
type slides struct {
	draw    func(values []float64) []*gonum.Plot
	sliders []Slider
	moved   chan struct{}
	panel

	mu     sync.Mutex
	values []float64
}

// picture draws a figure. arrange arranges its plots, for example panelsOf. A panic of draw becomes an error.
func (s *slides) picture(values []float64, arrange arrangement) (p picture, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	plots := s.draw(values)
	return arrange(len(plots), exploreWidth, exploreHeight, exploreDPI, plots...)
}

// open shows the controls and the first figure, and begins to listen.
func (s *slides) open(c *frontend.Conn, first picture) (err error) {
	var controls []control
	for _, one := range s.sliders {
		k := choiceControl(one.Name, "SelectionSlider", one.labels(), one.labels()[one.At])
		k.fields["continuous_update"] = false
		controls = append(controls, k)
	}
	s.panel, err = newPanel(c, controls, first, func(i int, raw json.RawMessage) {
		if text, err := controls[i].read(raw); err == nil {
			s.move(i, s.sliders[i].Values[slices.Index(s.sliders[i].labels(), text)])
		}
	})
	if err != nil {
		return err
	}
	go s.follow()
	return s.show()
}

// labels returns the numbers of a slider as the page shows them.
func (one Slider) labels() (out []string) {
	for _, v := range one.Values {
		out = append(out, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return out
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
		s.setStatus("computing")
		begin := time.Now()
		now, err := s.picture(values, sketchPanelsOf)
		s.update(now, err, begin)
	}
}
