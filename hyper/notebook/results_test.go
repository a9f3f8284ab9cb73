package notebook

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// Results are found by name. The latest run's results win. If their folder is missing, the error names it.
func TestResults(t *testing.T) {
	t.Setenv("HYPERMODELS_KEPT", t.TempDir())
	if _, _, err := results("gaussian"); err == nil || !strings.Contains(err.Error(), "%hyper run gaussian") {
		t.Errorf("without results: got error %v, want one with the command", err)
	}
	first, second := t.TempDir(), t.TempDir()
	simulate := func(dir string, periods int) {
		_, _, err := lab.Simulate(context.Background(), spec(t, periods), paper.Known, lab.Options{Dir: dir, Backend: "go"})
		must.M(err)
		must.M(NameResults("gaussian", dir))
	}
	simulate(first, 20)
	simulate(second, 30)
	h, rows := Results("gaussian")
	_, want, err := lab.ReadResults(second, paper.Known)
	if err != nil || h.Spec.Periods != 30 || !slices.Equal(rows, want) {
		t.Errorf("%d periods, %d rows, want the results of the second run: %v", h.Spec.Periods, len(rows), err)
	}
	must.M(os.RemoveAll(second))
	if _, _, err := results("gaussian"); err == nil || !strings.Contains(err.Error(), second) {
		t.Errorf("missing folder: got error %v, want one with its name", err)
	}
}

// `%hyper run gaussian` in a cell names its results, and later cells read them.
func ExampleResults() {
	must.M(os.Setenv("HYPERMODELS_KEPT", must.M1(os.MkdirTemp("", "kept"))))
	defer os.Unsetenv("HYPERMODELS_KEPT")
	defer func() { fmt.Println(recover()) }()
	Results("ids")
	// Output: no results under the name "ids": `%hyper run ids` in a cell makes them, `%kept` lists all
}
