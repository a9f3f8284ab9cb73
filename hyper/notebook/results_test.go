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

// Results are found by their folder, or by the experiment's name: then the latest of its folders counts.
func TestResults(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, _, err := results("gaussian"); err == nil || !strings.Contains(err.Error(), "%hyper run gaussian") {
		t.Errorf("without results: got error %v, want one with the command", err)
	}
	simulate := func(dir string, periods int) {
		_, _, err := lab.Simulate(context.Background(), spec(t, periods), paper.Known, lab.Options{Dir: dir, Backend: "go"})
		must.M(err)
	}
	const first, second = "hyper-out/gaussian-20260102-030405.000", "hyper-out/gaussian-20260102-030406.000"
	simulate(second, 30)
	simulate(first, 20)
	for name, periods := range map[string]int{"gaussian": 30, first: 20} {
		h, rows := Results(name)
		dir := map[int]string{20: first, 30: second}[periods]
		_, want, err := lab.ReadResults(dir, paper.Known)
		if err != nil || h.Spec.Periods != periods || !slices.Equal(rows, want) {
			t.Errorf("%s: %d periods, %d rows, want the results in %s: %v", name, h.Spec.Periods, len(rows), dir, err)
		}
	}
	must.M(os.Mkdir("empty", 0o700))
	if _, _, err := results("empty"); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("a folder without results: got error %v, want one with its name", err)
	}
}

// A cell reads the results of `%hyper run gaussian` in an earlier cell.
func ExampleResults() {
	defer func() { fmt.Println(recover()) }()
	Results("ids")
	// Output: no results under the name "ids": there is neither such a folder nor a folder hyper-out/ids-DATE; `%hyper run ids` in a cell makes one
}
