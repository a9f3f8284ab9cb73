package wrapper

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
)

// filter processes the standard error of a cell's program. It translates positions, and holds back the text of a panic.
type filter struct {
	mu   sync.Mutex
	to   io.Writer
	dir  string          // folder of the program's file
	at   []cells.Place   // where each line of the file comes from; nil if that is not known
	line []byte          // incomplete line, not yet written
	held strings.Builder // text from the first line of a possible panic
	wait *time.Timer     // writes the waiting text when the time is over
	due  time.Duration   // the delay of wait, 0 if wait does not run
	ends bool            // the held text lists goroutines, so the program ends
}

// Delays before text is written. A line may arrive in pieces, and a program that continues after a possible panic has
// not panicked. A delay begins with the waiting text, so that a program that writes dots shows them.
const (
	lineDelay  = 50 * time.Millisecond
	panicDelay = time.Second
	fatalDelay = 30 * time.Second // After StackOverflow the program always ends; printing a deep stack takes long.
)

// StackOverflow is the beginning of the runtime's message about a stack overflow.
const StackOverflow = "runtime: goroutine stack exceeds "

func newFilter(to io.Writer, dir string, at []cells.Place) *filter {
	f := &filter{to: to, dir: dir, at: at}
	f.wait = time.AfterFunc(time.Hour, f.late)
	return f
}

// beginning matches the first line of the Go runtime's messages about a program's end.
var beginning = regexp.MustCompile(`^(panic: |fatal error: |` + StackOverflow + `|unexpected fault address |SIG[A-Z]+: )`)

// ending occurs in every such message.
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
	case strings.HasPrefix(f.held.String(), StackOverflow):
		f.within(fatalDelay, false)
	case f.held.Len() > 0 || beginning.Match(f.line): // The runtime writes word by word.
		f.within(panicDelay, f.ends) // A list of many goroutines takes long.
	case len(f.line) > 0:
		f.within(lineDelay, false)
	}
	return len(p), nil
}

// within sets the timer. A timer that runs with the same delay continues, unless anew is set.
func (f *filter) within(delay time.Duration, anew bool) {
	if f.due != delay || anew {
		f.due = delay
		f.wait.Reset(delay)
	}
}

// translate replaces positions in the program's file by cells and lines. Other positions get a mark, because GoNB must
// not recognise any position.
func (f *filter) translate(line string) string {
	return position.ReplaceAllStringFunc(line, func(found string) string {
		p := position.FindStringSubmatch(found)
		folder, before, name, rest := p[1], p[2], p[3], p[4]
		number, _ := strconv.Atoi(strings.TrimPrefix(rest, ".go:"))
		own := before == "" && (folder == "" || folder == "./" || folder == f.dir+"/")
		if own && number >= 1 && number <= len(f.at) && f.at[number-1].Line > 0 {
			return f.at[number-1].String()
		}
		if own {
			folder = ""
		}
		return folder + before + name + nothing + rest
	})
}

// put writes a line, or holds it back.
func (f *filter) put(line string) {
	if f.held.Len() > 0 || beginning.MatchString(line) {
		f.ends = f.ends || strings.HasPrefix(line, ending[1:])
		f.held.WriteString(line)
		return
	}
	io.WriteString(f.to, f.translate(line))
}

// late writes the waiting text. A mark follows an incomplete line: GoNB reads whole lines, and must not find a position
// in two pieces put together.
func (f *filter) late() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.due = 0
	f.release()
	if len(f.line) > 0 {
		io.WriteString(f.to, f.translate(string(f.line))+nothing)
		f.line = nil
	}
}

// release writes the text that was held back.
func (f *filter) release() {
	held := f.held.String()
	f.held.Reset()
	f.ends = false
	for line := range strings.Lines(held) {
		io.WriteString(f.to, f.translate(line))
	}
}

// finish writes the remaining text. If the program has failed and the text is the message of a panic, finish
// returns it instead.
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
		text.WriteString(f.translate(line))
	}
	return text.String()
}

// position matches all text that GoNB may take for a position in the program of a cell.
var position = regexp.MustCompile(`((?:[^\s:]*/)?)([^\s:/]*?)(main(?:_test)?)(\.go:\d+)`)
