package wrapper

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
)

// TestPositions passes lines of standard error through the filter and the MarkReader. Line 12 of the program is line 3 of
// cell 2.
func TestPositions(t *testing.T) {
	const dir = "/tmp/k/1/gonb_ab"
	for _, c := range []struct{ line, want string }{
		{"nothing\n", "nothing\n"},
		{"2026/11/21 10:00:00 main.go:12: a\n", "2026/11/21 10:00:00 cell [2], line 3: a\n"},
		{"10:00:00 " + dir + "/main.go:12:7: a\n", "10:00:00 cell [2], line 3:7: a\n"},
		{"10:00:00 main.go:40: a\n", "10:00:00 main.go:40: a\n"}, // A line that the kernel has added.
		{"a:b: domain.go:12: c\n", "a:b: domain.go:12: c\n"},
		{"a:b: /lib/main.go:12: c\n", "a:b: /lib/main.go:12: c\n"},
		{"{\"a\":\"\x1e\"}\x1e{}\n", "{\"a\":\"\x1e\"}\x1e{}\n"},
	} {
		var to strings.Builder
		f := newFilter(&to, dir, lines)
		f.Write([]byte(c.line))
		if rest := f.finish(true); rest != "" {
			t.Errorf("line %q: taken for a panic", c.line)
		}
		for line := range strings.Lines(to.String()) {
			if strings.Contains(line, "main.go:") {
				t.Errorf("line %q has a position that GoNB would see", line)
			}
		}
		if got := unfold(to.String()); got != c.want {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
}

// lines holds the places of a program's lines.
var lines = append(make([]cells.Place, 11), cells.Place{Cell: 2, Line: 3})

// unfold passes a text through a MarkReader in small pieces.
func unfold(text string) string {
	var u MarkReader
	var out strings.Builder
	for _, r := range text {
		out.WriteString(u.Add(string(r)))
	}
	return out.String()
}

const stack = "panic: arm out of range: 7\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/g/main.go:12 +0x1d\n"

func TestPanic(t *testing.T) {
	var to strings.Builder
	f := newFilter(&to, "/tmp/g", lines)
	for _, b := range []byte("before\n" + stack) {
		f.Write([]byte{b})
	}
	panics := f.finish(true)
	if to.String() != "before\n" || panics == "" {
		t.Fatalf("got output %q and held panic %q, want \"before\" and a panic", to.String(), panics)
	}
	var u MarkReader
	shown := u.Add("before\n" + openText + panics + closeText + Report{CellVerb, "exit status 2", ""}.String() + "after")
	if shown != "before\nafter" || u.Failed == nil || *u.Failed != (Report{CellVerb, "exit status 2", ""}) {
		t.Fatalf("got output %q and failure %+v, want exit status 2", shown, u.Failed)
	}
	if want := strings.ReplaceAll(stack, "/tmp/g/main.go:12", "cell [2], line 3"); u.Panics.String() != want {
		t.Errorf("got panic %q, want %q", u.Panics.String(), want)
	}
}

// A program may print text that looks like a panic, and continue.
func TestNoPanic(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*filter){
		"succeeds":      func(f *filter) { f.finish(false) },
		"goes on":       func(f *filter) { f.late() },
		"has no stack":  func(f *filter) { f.finish(true) },
		"takes a while": func(*filter) { time.Sleep(panicDelay + 300*time.Millisecond) },
	} {
		var to safeBuilder
		f := newFilter(&to, "/tmp/g", lines)
		text := stack
		if name == "has no stack" {
			text = "panic: not at all\n"
		}
		f.Write([]byte(text))
		end(f)
		if got := unfold(to.String()); got != strings.ReplaceAll(text, "/tmp/g/main.go:12", "cell [2], line 3") {
			t.Errorf("program that %s: got %q", name, got)
		}
	}
}

// Incomplete lines of a program are shown while it runs: dots, and text that only looks like a panic.
func TestDots(t *testing.T) {
	t.Parallel()
	for text, within := range map[string]time.Duration{".": 200 * time.Millisecond,
		"panic: no\n": panicDelay + 500*time.Millisecond} {
		var to safeBuilder
		f := newFilter(&to, "/tmp/g", lines)
		began := time.Now()
		for to.String() == "" && time.Since(began) < 5*time.Second {
			f.Write([]byte(text))
			time.Sleep(20 * time.Millisecond)
		}
		if d := time.Since(began); d > within {
			t.Errorf("%q, written every 20 ms, shows after %v", text, d)
		}
		f.finish(false)
	}
}

// safeBuilder is safe for concurrent use, because a timer writes to it.
type safeBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *safeBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuilder) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
