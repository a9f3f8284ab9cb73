package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hypermodels/hypermodels/kernels/internal/testprogram"
)

// result runs the command and returns what it printed and its exit status.
func result(t *testing.T, program string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestNotebook executes the first notebook of the checkout, with its small experiments; `go run ./kernels run` executes
// them all.
func TestNotebook(t *testing.T) {
	run := testprogram.Build(t)
	out, code := result(t, run, "run", "--quick", testCheckout(t).path("notebooks", "00-start-here.ipynb"))
	t.Log(out)
	if code != 0 {
		t.Errorf("exit status %d", code)
	}
}

// TestFirstCell is the promise to a user with an empty notebook: no import lines, declarations stay, pictures show.
func TestFirstCell(t *testing.T) {
	run := testprogram.Build(t)
	path := filepath.Join(t.TempDir(), "first.ipynb")
	writeNotebook(t, path,
		"%%\nfmt.Println(hyper.Version)",
		"import . \"github.com/gomlx/gomlx/core/graph\"\n\nfunc square(x *Node) *Node { return Mul(x, x) }",
		"%%\nfmt.Println(MustExecOnce(must.M1(backend.Open(\"go\")), square, []float32{1, 2, 3}))",
		"import \"gonum.org/v1/plot\"\n\n%%\nvar png bytes.Buffer\nmust.M1(must.M1(plot.New().WriterTo(100, 100, \"png\")).WriteTo(&png))\n"+
			"gonbui.DisplayPNG(png.Bytes())",
		"%%\nfmt.Println(os.Getenv(\"HYPER_PROFILE\"))",
		"%%\nl := notebook.NewLive()\nl.Show(\"halfway there\", nil)\nl.Close()\nnotebook.NewTable(\"agent\").Show()",
		"%%\n_, err := serve.New(serve.Options{})\nfmt.Println(err)")
	before, _ := os.ReadFile(path)
	folder := filepath.Join(t.TempDir(), "executed")
	if out, code := result(t, run, "run", "--full", "--out", folder, path); code != 0 {
		t.Fatalf("exit status %d\n%s", code, out)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the notebook itself was changed")
	}
	executed, err := os.ReadFile(filepath.Join(folder, "first.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"[3]float32{1, 4, 9}", "image/png", `"full\n"`, `| agent |`, "Dir is missing"} {
		if !strings.Contains(string(executed), want) {
			t.Errorf("%q is not among the outputs", want)
		}
	}
	if text := string(executed); strings.Contains(strings.Split(text, "notebook.NewLive()")[1], "text/html") {
		t.Error("a live display that was closed is among the outputs")
	}
}

func TestFailingCells(t *testing.T) {
	run := testprogram.Build(t)
	for _, c := range []struct{ name, cell, want string }{
		{"panic", "%%\npanic(\"arm out of range\")", "panic: arm out of range"},
		{"compile", "%%\nundefinedThing()", "undefined: undefinedThing"},
		{"must", "%%\nmust.M(errors.New(\"no data\"))", "no data"},
	} {
		path := filepath.Join(t.TempDir(), c.name+".ipynb")
		writeNotebook(t, path, "%%\nfmt.Println(1)", c.cell, "%%\nfmt.Println(\"never\")")
		before, _ := os.ReadFile(path)
		out, code := result(t, run, "run", "--inplace", path)
		if code != 1 || !strings.Contains(out, c.want) || !strings.Contains(out, "cell 2:") {
			t.Errorf("%s: exit status %d, output\n%s", c.name, code, out)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Errorf("%s: --inplace changed a notebook that failed", c.name)
		}
	}
}

// Lines of pages and of notebooks' cells are at most 120 columns wide, as those of the code are. Rows of tables, headings
// and formulas cannot be broken.
func TestTextFitsThePage(t *testing.T) {
	root := testCheckout(t).path()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && strings.HasPrefix(name, ".") && path != root {
			return filepath.SkipDir
		}
		switch filepath.Ext(name) {
		case ".md":
			text, err := os.ReadFile(path)
			checkWidth(t, path, string(text))
			return err
		case ".ipynb":
			var n struct {
				Cells []struct{ Source []string }
			}
			text, err := os.ReadFile(path)
			if err == nil {
				err = json.Unmarshal(text, &n)
			}
			for i, c := range n.Cells {
				checkWidth(t, fmt.Sprintf("%s, cell %d", path, i), strings.Join(c.Source, ""))
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// checkWidth reports lines that are too long.
func checkWidth(t *testing.T, where, text string) {
	t.Helper()
	formula := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.Count(line, "$$")%2 == 1 {
			formula = !formula
		}
		whole := formula || strings.Contains(line, "$$") || strings.HasPrefix(strings.TrimLeft(line, " "), "|") ||
			strings.HasPrefix(line, "#")
		if n := utf8.RuneCountInString(line); n > 120 && !whole {
			t.Errorf("%s: %d columns: %s", where, n, line)
		}
	}
}
