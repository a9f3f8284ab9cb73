package notebook_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/notebook"
	"github.com/hypermodels/hypermodels/hyper/notebook/kept"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

func folder(t *testing.T) kept.Folder {
	t.Setenv("HYPERMODELS_KEPT", filepath.Join(t.TempDir(), "kept"))
	return must.M1(kept.Of("."))
}

// A value is computed once. It is computed again for another input, after it was removed, and if its file is damaged.
func TestKeep(t *testing.T) {
	dir := folder(t)
	times := 0
	get := func(inputs ...any) []lab.Row {
		return must.M1(notebook.Keep("rows", func() ([]lab.Row, error) {
			times++
			return []lab.Row{{Seed: 7, Regret: stats.Float(times)}}, nil
		}, inputs...))
	}
	for i, c := range []struct {
		inputs []any
		want   int
	}{{nil, 1}, {nil, 1}, {[]any{"a", 1}, 2}, {[]any{"a", 1}, 2}, {[]any{"a", 2}, 3}} {
		if rows := get(c.inputs...); times != c.want || rows[0].Seed != 7 || rows[0].Regret != stats.Float(c.want) {
			t.Errorf("call %d: computed %d times, got %+v", i, times, rows)
		}
	}
	e, path, ok := dir.Find("rows")
	if !ok || e.Type != "[]lab.Row" || e.Bytes == 0 || time.Since(e.Made) > time.Minute {
		t.Errorf("kept entry: got %+v, %v, want the rows", e, ok)
	}
	must.M(os.WriteFile(path, []byte("no gob"), 0o600))
	if get("a", 2); times != 4 {
		t.Error("a damaged file was used as a value")
	}
	if all := must.M1(dir.All()); len(all) != 1 || all[0].Name != "rows" {
		t.Errorf("kept entries: got %+v, want one named rows", all)
	}
	must.M(dir.Remove("rows"))
	if get("a", 2); times != 5 {
		t.Error("the removed value still exists")
	}
	if err := dir.Remove("none"); err == nil {
		t.Error("Remove of a missing value: got no error")
	}
	broken := errors.New("broken")
	if _, err := notebook.Keep("no", func() (int, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := notebook.Keep("no", func() (func(), error) { return nil, nil }); err == nil {
		t.Error("Keep of a function: got no error")
	}
	if _, err := notebook.Keep("no", func() (int, error) { return 0, nil }, func() {}); err == nil {
		t.Error("Keep with a function as input: got no error")
	}
	if _, _, ok := dir.Find("no"); ok {
		t.Error("the value of a failed call is kept")
	}
}

func TestKeepTensor(t *testing.T) {
	folder(t)
	times := 0
	for range 2 {
		x := must.M1(notebook.Keep("x", func() (*tensors.Tensor, error) {
			times++
			return tensors.FromFlatDataAndDimensions([]float32{1, 2, 3}, 3), nil
		}))
		if got := must.M1(tensors.CopyFlatData[float32](x)); !slices.Equal(got, []float32{1, 2, 3}) || times != 1 {
			t.Errorf("got %v, computed %d times, want [1 2 3] and once", got, times)
		}
	}
}

// An agent continues where it was.
func TestKeepFile(t *testing.T) {
	folder(t)
	c := agent.Config{Backend: backend.Go, Seed: 1}.Arms(3)
	trained := 0
	for i := range 2 {
		a := must.M1(notebook.KeepFile("agent", func(path string) (*agent.Agent, error) { return agent.Load(c, path) },
			func() (*agent.Agent, error) {
				trained++
				a, err := agent.New(c)
				if err == nil {
					err = a.Add([]float32{1}, 2)
				}
				return a, err
			}))
		if a.Size() != 1 || trained != 1 {
			t.Errorf("call %d: got %d data after %d trainings, want 1 and 1", i, a.Size(), trained)
		}
		a.Close()
	}
}

const cell = `package main

import "strings"
import m "math"

const size = 10 // of all

type part struct{ n int }

func (p part) twice() int { return 2 * p.n }

func unused() int { return 1 }

func helper(n int) (int, error) { return part{n}.twice() + size, nil }

func main() {
	k := 1
	other := 2
	k++
	x := must.M1(notebook.Keep("x", func() (int, error) {
		return helper(k + len(strings.Repeat("a", 3)))
	}))
	after := m.Pi
}
`

// Changes of code or values that a value depends on change its key, and no other changes do.
func TestKeyOfCode(t *testing.T) {
	key := func(text string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "main.go")
		must.M(os.WriteFile(file, []byte(text), 0o600))
		line := 1 + strings.Count(text[:strings.Index(text, "notebook.Keep")], "\n")
		var out strings.Builder
		must.M(notebook.WriteCode(&out, file, line))
		return out.String()
	}
	of := key(cell)
	for _, change := range [][2]string{{"size = 10", "size = 11"}, {"2 * p.n", "3 * p.n"}, {"n int }", "n, m int }"},
		{"k := 1", "k := 2"},
		{"\tk++\n", ""}, {"+ size", "- size"}, {`"a", 3`, `"a  b", 3`}, {`import "strings"`, `import "other/strings"`},
		{`"x", func`, `"y", func`}} {
		if key(strings.Replace(cell, change[0], change[1], 1)) == of {
			t.Errorf("the change to %q from %q does not change the key", change[1], change[0])
		}
	}
	for _, change := range [][2]string{{"return 1 }", "return 2 }"}, {"other := 2", "other := 3"}, {" // of all", ""},
		{"m.Pi", "m.E"},
		{"func main", "\n\nfunc main"}, {"x := must", "y := must"}, {"\tafter", "\tk = 7\n\tafter"}} {
		if key(strings.Replace(cell, change[0], change[1], 1)) != of {
			t.Errorf("the change to %q from %q changes the key", change[1], change[0])
		}
	}
	if key(strings.Replace(cell, `"a", 3`, `"a b", 3`, 1)) == key(strings.Replace(cell, `"a", 3`, `"a  b", 3`, 1)) {
		t.Error("string values that differ by a space have the same key")
	}
}

// A variable that can differ between calls must be an input.
func TestKeepOfWhatVaries(t *testing.T) {
	folder(t)
	for i := range 2 {
		if _, err := notebook.Keep("i", func() (int, error) { return i, nil }); err == nil || !strings.Contains(err.Error(), "i can differ between") {
			t.Error(err)
		}
		if v := must.M1(notebook.Keep("i", func() (int, error) { return i, nil }, i)); v != i {
			t.Errorf("got %d for the input %d", v, i)
		}
	}
	double := func(n int) (int, error) {
		return notebook.Keep("double", func() (int, error) { return 2 * n, nil })
	}
	if _, err := double(1); err == nil {
		t.Error("a parameter that is no input: got no error")
	}
	for n := 0; n < 2; n++ {
		if _, err := notebook.Keep("n", func() (int, error) { return n, nil }); err == nil {
			t.Error("a counter that is no input: got no error")
		}
	}
}

func ExampleKeep() {
	dir, err := os.MkdirTemp("", "kept-")
	must.M(err)
	defer func() { must.M(os.RemoveAll(dir)) }()
	must.M(os.Setenv("HYPERMODELS_KEPT", dir)) // a real notebook has its own folder
	for range 2 {
		squares := must.M1(notebook.Keep("squares", func() ([]int, error) {
			println("computed") // once
			return []int{0, 1, 4, 9}, nil
		}))
		os.Stdout.WriteString(strings.Repeat("*", squares[2]) + "\n")
	}
	// Output:
	// ****
	// ****
}

// BenchmarkKeepFile stores and loads an agent of 10 MB: a network, and a memory for 48,000 data.
func BenchmarkKeepFile(b *testing.B) {
	b.Setenv("HYPERMODELS_KEPT", b.TempDir())
	c := agent.Config{Backend: backend.Go, Seed: 1, Replay: agent.Window}
	c.Learner.Train.Capacity = 48_000
	c = c.Neural(20, 10, 10)
	get := func() *agent.Agent {
		return must.M1(notebook.KeepFile("agent", func(path string) (*agent.Agent, error) { return agent.Load(c, path) },
			func() (*agent.Agent, error) { return agent.New(c) }))
	}
	get().Close()
	for b.Loop() {
		get().Close()
	}
	e, _, _ := must.M1(kept.Of(".")).Find("agent")
	b.ReportMetric(float64(e.Bytes)/1e6, "MB")
}
