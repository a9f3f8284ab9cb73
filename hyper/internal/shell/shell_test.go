package shell

import (
	"os/exec"
	"testing"
)

// A shell reads each word as the text that it stands for. Usual paths stay as they are.
func TestWord(t *testing.T) {
	for _, text := range []string{"my results", "it's", "", "a$b", "~", "x;y", "a*", "`id`", `a\b`, "é"} {
		if got, err := exec.Command("sh", "-c", "printf %s "+Word(text)).Output(); err != nil || string(got) != text {
			t.Errorf("%q: a shell reads %s as %q, error %v", text, Word(text), got, err)
		}
	}
	for _, text := range []string{"hyper-out/gaussian-20260101-120000.000", "/tmp/a_b/x=1,2"} {
		if got := Word(text); got != text {
			t.Errorf("%s: got %s, want no quotes", text, got)
		}
	}
}
