package notebook

import "testing"

func TestCheck(t *testing.T) {
	if got := checked(true, "never"); got != "**Right.**" {
		t.Errorf("a right answer shows %q", got)
	}
	if got := checked(false, "%.1f is too small", 0.25); got != "**Not yet.** 0.2 is too small" {
		t.Errorf("a wrong answer shows %q", got)
	}
}
