package wrapper

import (
	"encoding/base64"
	"testing"
)

func TestRewrite(t *testing.T) {
	const run = "!'/k' shell "
	for _, c := range []struct{ code, want string }{
		{"%%\nx := 1", "%%\nx := 1"},
		{"!ls", run + "bHM"},
		{"//gonb:!ls", run + "bHM"},
		{"!*ls", "!*'/k' shell bHM"},
		{"!l\\\ns\n%%", run + "bCBz" + "\n\n%%"}, // "l s"; the number of lines does not change.
		{"!  \n% \nvar x int", "\n\nvar x int"},
		{"%hyper list a", run + base64.RawURLEncoding.EncodeToString([]byte("'/k' hyper list a"))},
		{"%hyperother", "%hyperother"},
		{"%%bash\n!ls", "%%script \"/k\" script bash\n!ls"},
		{"%%script python3 -u\nx", "%%script \"/k\" script python3 -u\nx"},
		{"%%bash -x\nls", "%%bash -x\nls"},
		{"%%writefile a\n!ls", "%%writefile a\n!ls"},
	} {
		if got := Rewrite(c.code, "/k"); got != c.want {
			t.Errorf("%q: %q, want %q", c.code, got, c.want)
		}
	}
}
