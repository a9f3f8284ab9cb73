package main

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/must"
)

// shown returns the output of a step with a shell command on a terminal with a number of columns, and the step's error.
func shown(t *testing.T, columns int, command string, count counter) (string, error) {
	t.Helper()
	before := refresh
	refresh = 20 * time.Millisecond
	defer func() { refresh = before }()
	var to strings.Builder
	err := display{&to, func() int { return columns }}.step(t.Context(), "installing it",
		exec.CommandContext(t.Context(), "sh", "-c", command), count)
	return to.String(), err
}

const collects = "echo; echo Collecting a; echo '  Downloading a'; echo Collecting b; sleep 0.15; echo; sleep 0.1"

// On a terminal a step has one line, which is overwritten and fits the width.
func TestStepOnATerminal(t *testing.T) {
	const done = "installing it: done in 0.5 s"
	for _, c := range []struct {
		columns  int
		count    counter
		in, last string
	}{
		{60, counter{"packages", 4, each("Collecting ", "Ignoring ")}, "installing it: 2 of 4 packages, 0 s", done},
		{60, counter{"modules", 0, each("Collecting ")}, "installing it: 2 modules, 0 s", done},
		{60, counter{"modules", 0, each("nothing")}, "installing it: 0 s", done},
		{60, counter{}, "installing it: 0 s, Collecting b", done},
		{20, counter{"packages", 4, each("Collecting ")}, "installing it: 2 of", "installing it: done"},
	} {
		text := must.M1(shown(t, c.columns, collects, c.count))
		line, ended := strings.CutSuffix(text, "\n")
		lines := strings.Split(line, "\r\x1b[K")
		if !ended || lines[0] != "" || strings.Contains(line, "\n") {
			t.Errorf("got %q, want one line in place", text)
		}
		lines = lines[1:]
		last := regexp.MustCompile(`0\.\d s`).ReplaceAllString(lines[len(lines)-1], "0.5 s")
		if lines[0] != "installing it" || !slices.Contains(lines, c.in) || last != c.last {
			t.Errorf("want %q and at the end %q: %q", c.in, c.last, lines)
		}
		for _, l := range lines {
			if len(l) >= c.columns {
				t.Errorf("line %q is wider than %d columns", l, c.columns)
			}
		}
	}
}

// In a log a step has a line at its beginning and a line at its end, whatever its duration is.
func TestStepInALog(t *testing.T) {
	text, err := shown(t, 0, collects, counter{"packages", 4, each("Collecting ")})
	if err != nil || !regexp.MustCompile(`^installing it\ninstalling it: done in 0\.\d s\n$`).MatchString(text) {
		t.Errorf("got text %q, error %v, want one line at the beginning and one at the end", text, err)
	}
	text, err = shown(t, 0, "echo it is broken; exit 3", counter{})
	if text != "installing it\n" || err == nil || err.Error() != "installing it: exit status 3\nit is broken" {
		t.Errorf("failing step: got %q, error %v", text, err)
	}
}

func TestCounters(t *testing.T) {
	pins := "# x==1\naiohttp==3.9.1 \\\n    --hash=sha256:00 \\\n    # via y\nb[extra]==2 ; python_version < \"4\" \\\n"
	if c := wheels([]byte(pins)); c.total != 2 {
		t.Errorf("got %d packages, want 2 in %q", c.total, pins)
	}
	c, done := compiled([]string{"unsafe", "a", "b", "c"}), 0
	for _, want := range []struct {
		line string
		done int
	}{{"go: downloading b v1", 0}, {"b", 1}, {"d", 1}, {"a", 2}, {"unsafe", 3}} {
		if done = c.add(done, want.line); done != want.done {
			t.Errorf("after %q %d are done, want %d", want.line, done, want.done)
		}
	}
}
