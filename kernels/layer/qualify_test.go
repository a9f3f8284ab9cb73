package layer

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMissingImport(t *testing.T) {
	const own = "import \"github.com/hypermodels/hypermodels/hyper\"\n"
	const train = "import \"github.com/hypermodels/hypermodels/hyper/train\"\n"
	for _, c := range []struct{ code, want string }{
		{"%%\nfmt.Println(hyper.", own},
		{"%%\nfmt.Println(hyper.Li", own},
		{"%%\nθ := hyper.", own},
		{"%%\ntrain.Config{", ""}, // The cursor is at no name.
		{"%%\nc := train.", train},
		{"%%\nhyper", ""},
		{"%%\nfmt.", ""},
		{"%%\nx.hyper.", ""},
		{"%%\ntrain := 1\ntrain.", ""},
		{own + "%%\nhyper.", ""},
		{"%%bash\nhyper.", ""},
	} {
		if got := missingImport(c.code, len([]rune(c.code))); got != c.want {
			t.Errorf("%q: %q, want %q", c.code, got, c.want)
		}
	}
	if got := missingImport("%%\nhyper. // hyper.", 9); got != own {
		t.Errorf("in the middle: %q", got)
	}
	for _, name := range ownPackages {
		if _, err := os.Stat(filepath.Join("..", "..", "hyper", name)); err != nil {
			t.Error(err)
		}
	}
}
