package cli

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/notebook"
)

// progressBar shows the progress of a run: a changing text in a cell, else on standard error a bar on a terminal, or a
// plain line every ten seconds.
type progressBar struct {
	live *notebook.Live // nil outside a cell
	mu   sync.Mutex
	bar  *progressbar.ProgressBar // nil until the total is known, and without a terminal
	tty  bool
	last time.Time
}

func newProgressBar() *progressBar {
	if inCell() {
		return &progressBar{live: notebook.NewLive()}
	}
	return &progressBar{tty: term.IsTerminal(int(os.Stderr.Fd())), last: time.Now()}
}

// update shows the progress. It is a function for [lab.Options.Progress].
func (b *progressBar) update(p lab.Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.live != nil {
		b.live.Show(progressText(p), nil)
		return
	}
	if !b.tty {
		b.line(p)
		return
	}
	if b.bar == nil {
		b.bar = progressbar.NewOptions64(p.Total, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
			progressbar.OptionSetPredictTime(false))
	}
	b.bar.Describe(p.Pace("run-periods/s"))
	_ = b.bar.Set64(p.Done)
}

// line prints a line, ten seconds or more after the last line.
func (b *progressBar) line(p lab.Progress) {
	if time.Since(b.last) < 10*time.Second {
		return
	}
	b.last = time.Now()
	fmt.Fprintln(os.Stderr, progressText(p))
}

func progressText(p lab.Progress) string {
	return fmt.Sprintf("%3.0f%%, %d of %d run-periods, %s", 100*float64(p.Done)/float64(p.Total), p.Done, p.Total,
		p.Pace("per second"))
}

// finish removes the bar.
func (b *progressBar) finish() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bar != nil {
		_ = b.bar.Clear()
	}
	if b.live != nil {
		b.live.Close()
	}
}
