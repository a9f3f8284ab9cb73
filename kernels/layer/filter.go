package layer

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// filter is the standard error of a cell's program. It marks positions, and holds back the text of a panic.
type filter struct {
	mu   sync.Mutex
	to   io.Writer
	dir  string          // of the program's file
	at   [][2]int        // the cell, and its line, of each line of the file; nil where they are not known
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
	fatalDelay = 30 * time.Second // After deepStack nothing goes on; to print a deep stack takes a while.
)

// deepStack begins what the runtime says of a stack that is too deep.
const deepStack = "runtime: goroutine stack exceeds "

func newFilter(to io.Writer, dir string, at [][2]int) *filter {
	f := &filter{to: to, dir: dir, at: at}
	f.wait = time.AfterFunc(time.Hour, f.late)
	return f
}

// beginning is how the Go runtime begins to tell of a program's end.
var beginning = regexp.MustCompile(`^(panic: |fatal error: |` + deepStack + `|unexpected fault address |SIG[A-Z]+: )`)

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
	case strings.HasPrefix(f.held.String(), deepStack):
		f.within(fatalDelay, false)
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

// place puts cells and lines for positions in the program's file. Others, and those that are not known, get a mark: GoNB
// must see none of them.
func (f *filter) place(line string) string {
	return position.ReplaceAllStringFunc(line, func(found string) string {
		p := position.FindStringSubmatch(found)
		folder, before, name, rest := p[1], p[2], p[3], p[4]
		number, _ := strconv.Atoi(strings.TrimPrefix(rest, ".go:"))
		own := before == "" && (folder == "" || folder == "./" || folder == f.dir+"/")
		if own && number >= 1 && number <= len(f.at) && f.at[number-1][1] > 0 {
			return place{f.at[number-1][0], f.at[number-1][1]}.String()
		}
		if own {
			folder = ""
		}
		return folder + before + name + nothing + rest
	})
}

// put writes a line or holds it back.
func (f *filter) put(line string) {
	if f.held.Len() > 0 || beginning.MatchString(line) {
		f.ends = f.ends || strings.HasPrefix(line, ending[1:])
		f.held.WriteString(line)
		return
	}
	io.WriteString(f.to, f.place(line))
}

// late gives up waiting. A piece of a line is followed by a mark: GoNB looks at whole lines, and must not find a
// position in two pieces put together.
func (f *filter) late() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.due = 0
	f.release()
	if len(f.line) > 0 {
		io.WriteString(f.to, f.place(string(f.line))+nothing)
		f.line = nil
	}
}

// release writes what was held back.
func (f *filter) release() {
	held := f.held.String()
	f.held.Reset()
	f.ends = false
	for line := range strings.Lines(held) {
		io.WriteString(f.to, f.place(line))
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
		text.WriteString(f.place(line))
	}
	return text.String()
}
