package notebook

import (
	"html"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
)

// Live is a place in the output of a cell that changes while the cell runs and is empty at the end: a line of text and
// a figure. Its methods may be called side by side. The figure is an image within the HTML, and so shows in notebooks
// that are not trusted as well.
type Live struct {
	mu    sync.Mutex
	id    string
	shown bool
	pause time.Duration // the least time between two figures
	next  time.Time     // nothing is shown before it
}

// NewLive returns a place that shows nothing yet.
func NewLive() *Live { return &Live{id: "live-" + gonbui.UniqueId(), pause: livePause} }

// The size of a live figure, in centimetres and dots per inch.
const (
	liveWidth, liveHeight = 16, 9
	liveDPI               = 72
)

// The least time between two figures, and between those of what runs for long.
var livePause, watchPause = 100 * time.Millisecond, time.Second

// liveShare is how many times as long as a figure took there is none: it bounds the time that a cell spends on them.
const liveShare = 2

// Show replaces what is there by a line of text and the figure that draw makes; draw may be nil, and where it fails
// there is no figure. To cost a cell little it does nothing sooner than a tenth of a second after the last time, or
// twice as long as that one took: the clock decides whether draw is called, so it should change nothing that the cell
// computes with (such as draw from an agent).
func (l *Live) Show(text string, draw func() (*gonum.Plot, error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	begin := time.Now()
	if !shows() || begin.Before(l.next) {
		return
	}
	l.put("<div>" + html.EscapeString(text) + "</div>" + drawn(draw))
	l.shown = true
	l.next = time.Now().Add(max(l.pause, liveShare*time.Since(begin)))
}

// drawn is the figure as HTML, or nothing.
func drawn(draw func() (*gonum.Plot, error)) string {
	if draw == nil {
		return ""
	}
	p, err := draw()
	if err != nil {
		return ""
	}
	shown, err := sketchOf(p, liveWidth, liveHeight, liveDPI)
	if err != nil {
		return ""
	}
	return shown.html()
}

// Close empties the place.
func (l *Live) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown {
		l.put("")
		if gonbui.IsNotebook {
			arrived()
		}
	}
	l.shown = false
}

// put replaces what is there.
func (l *Live) put(html string) {
	if gonbui.IsNotebook {
		gonbui.UpdateHTML(l.id, html)
		return
	}
	data := map[string]any{"text/html": html}
	if l.shown {
		_ = kernel().Update(l.id, data)
		return
	}
	_ = kernel().Display(l.id, data)
}

// kernel is the connection of a program that a cell has started by a command, nil without one.
var kernel = sync.OnceValue(func() *frontend.Conn {
	c, _ := frontend.Open()
	return c
})

// shows tells whether there is a notebook that shows something.
func shows() bool { return gonbui.IsNotebook || kernel() != nil }
