package notebook

import (
	"html"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
)

// Live is a part of a cell's output that changes while the cell runs, and is empty at the end: a line of text and a
// figure. It is safe for concurrent use. The figure is an image within the HTML, so that notebooks that are not trusted
// show it, too.
type Live struct {
	mu    sync.Mutex
	id    string
	shown bool
	pause time.Duration // least time between two figures
	next  time.Time     // time before which nothing is shown
}

// NewLive returns a Live that shows nothing yet.
func NewLive() *Live { return &Live{id: "live-" + gonbui.UniqueId(), pause: livePause} }

// Size of a live figure, in centimetres and dots per inch.
const (
	liveWidth, liveHeight = 16, 9
	liveDPI               = 72
)

// Least time between two figures, and between two figures of a long run.
var livePause, watchPause = 100 * time.Millisecond, time.Second

// liveShare limits the share of a cell's time for figures: after a figure there is a pause of that many times its
// duration.
const liveShare = 2

// Show replaces the content by a line of text and the figure that draw makes. draw may be nil; if it fails there is no
// figure. To save time, Show does nothing until a tenth of a second after the last call, or until twice the duration of
// that call. Since the clock decides whether draw is called, draw must not change the cell's data, and must not draw
// random numbers from an agent.
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

// drawn returns the figure as HTML, or "".
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

// Close empties the output.
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

// put replaces the content.
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

// kernel returns the connection of a program that a cell has started by a command, or nil if there is none.
var kernel = sync.OnceValue(func() *frontend.Conn {
	c, _ := frontend.Open()
	return c
})

// shows reports whether there is a notebook that can show output.
func shows() bool { return gonbui.IsNotebook || kernel() != nil }
