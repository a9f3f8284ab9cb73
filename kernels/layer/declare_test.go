package layer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
)

// builtKernel returns a kernel whose last build of a cell has a result.
func builtKernel(t *testing.T, result string) *kernel {
	t.Helper()
	dir := t.TempDir()
	must.M(os.WriteFile(filepath.Join(dir, "built.json"), []byte(result), 0o600))
	return newKernel(Config{Dir: dir}, "session", &front{}, func() {})
}

// An interrupt ends the compiler, whose error is not the cell's. The cell has failed nevertheless.
func TestInterruptedBuild(t *testing.T) {
	k := builtKernel(t, `{"Complaints": [{"Cell": 1, "Line": 1, "Text": "undefined: a"}]}`)
	x := newExchange(message{})
	x.interrupt()
	if f := k.learn(x, &cells.Program{}, nil); f == nil || f.Name != "Interrupt" {
		t.Errorf("got %+v, want the fault Interrupt", f)
	}
}

// A name may have letters of all languages.
func TestHintForAnUndefinedName(t *testing.T) {
	for _, text := range []string{"undefined: α", "b.β undefined (type *größe has no field or method β)"} {
		k := builtKernel(t, `{"Complaints": [{"Cell": 1, "Line": 1, "Text": "`+text+`"}]}`)
		const hint = "no cell has declared anything"
		f := k.learn(newExchange(message{}), &cells.Program{}, nil)
		if f == nil || !strings.Contains(strings.Join(f.Trace, "\n"), hint) {
			t.Errorf("%s: got %+v, want the hint %q", text, f, hint)
		}
	}
}
