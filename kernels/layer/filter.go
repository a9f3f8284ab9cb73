package layer

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
)

// filter is the standard error of a cell's program. It marks positions, and holds back the text of a panic.
type filter struct {
	mu   sync.Mutex
	to   io.Writer
	dir  string
	line []byte          // begun, and not yet written
	held strings.Builder // from the first line of what looks like a panic
	wait *time.Timer     // writes what was waited with in vain
	due  time.Duration   // what wait was set to, 0 when it does not run
	ends bool            // what is held tells of goroutines: the program ends
}

// Delays: a line may be written in pieces, and a program that goes on after something like a panic has not panicked.
// They begin with what is waited with, so that a program that writes dots shows them.
const (
	lineDelay  = 50 * time.Millisecond
	panicDelay = time.Second
)

func newFilter(to io.Writer, dir string) *filter {
	f := &filter{to: to, dir: dir}
	f.wait = time.AfterFunc(time.Hour, f.late)
	return f
}

// beginning is how the Go runtime begins to tell of a program's end.
var beginning = regexp.MustCompile(`^(panic: |fatal error: |runtime: goroutine stack exceeds |unexpected fault address |SIG[A-Z]+: )`)

// ending is in all that it tells of it.
const ending = "\ngoroutine "

func (f *filter) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.line = append(f.line, p...)
	for {
		end := bytes.IndexAny(f.line, "\n\r")
		if end < 0 {
			break
		}
		f.put(string(f.line[:end+1]))
		f.line = f.line[end+1:]
	}
	switch {
	case f.held.Len() > 0 || beginning.Match(f.line): // The runtime writes word by word.
		f.within(panicDelay, f.ends) // Many goroutines take long.
	case len(f.line) > 0:
		f.within(lineDelay, false)
	}
	return len(p), nil
}

// within sets the timer, unless it runs already and must not begin anew.
func (f *filter) within(delay time.Duration, anew bool) {
	if f.due != delay || anew {
		f.due = delay
		f.wait.Reset(delay)
	}
}

// put writes a line or holds it back.
func (f *filter) put(line string) {
	if f.held.Len() > 0 || beginning.MatchString(line) {
		f.ends = f.ends || strings.HasPrefix(line, ending[1:])
		f.held.WriteString(line)
		return
	}
	io.WriteString(f.to, foldPositions(line, f.dir))
}

// late gives up waiting. A piece of a line is followed by a fold: GoNB looks at whole lines, and must not find a
// position in two pieces put together.
func (f *filter) late() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.due = 0
	f.release()
	if len(f.line) > 0 {
		io.WriteString(f.to, foldPositions(string(f.line), f.dir)+fold)
		f.line = nil
	}
}

// release writes what was held back.
func (f *filter) release() {
	held := f.held.String()
	f.held.Reset()
	f.ends = false
	for line := range strings.Lines(held) {
		io.WriteString(f.to, foldPositions(line, f.dir))
	}
}

// finish writes the rest, or returns it when it is the text of a panic of a program that has failed.
func (f *filter) finish(failed bool) string {
	f.wait.Stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.line) > 0 {
		f.put(string(f.line))
		f.line = nil
	}
	if !failed || !strings.Contains(f.held.String(), ending) {
		f.release()
		return ""
	}
	var text strings.Builder
	for line := range strings.Lines(f.held.String()) {
		text.WriteString(foldPositions(line, f.dir))
	}
	return text.String()
}
