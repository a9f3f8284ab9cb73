package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/kernels/internal/testprogram"
	"github.com/hypermodels/hypermodels/kernels/layer"
)

// result runs the command and returns its output and exit status.
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

// TestFirstCell checks an empty notebook: cells need no import lines, declarations stay, and pictures are shown.
func TestFirstCell(t *testing.T) {
	t.Parallel()
	run := testprogram.Build(t)
	path := filepath.Join(t.TempDir(), "first.ipynb")
	writeNotebook(t, path,
		"import . \"github.com/gomlx/gomlx/core/graph\"\n\nfunc square(x *Node) *Node { return Mul(x, x) }",
		`import "gonum.org/v1/plot"

%%
fmt.Println(hyper.Version)
fmt.Println(MustExecOnce(must.M1(backend.Open("go")), square, []float32{1, 2, 3}))
fmt.Println(os.Getenv("HYPER_PROFILE"))
_, err := serve.New(context.Background(), serve.Options{})
fmt.Println(err)
var png bytes.Buffer
must.M1(must.M1(plot.New().WriterTo(100, 100, "png")).WriteTo(&png))
gonbui.DisplayPNG(png.Bytes())
l := notebook.NewLive()
l.Show("halfway there", nil)
l.Close()
notebook.NewTable("agent").Show()
notebook.Check(1+1 == 3, "it is less than %d", 3)`, answer("notebook.Check(1+1 == 2, \"\")"))
	before, _ := os.ReadFile(path)
	folder := filepath.Join(t.TempDir(), "executed")
	if out, code := result(t, run, "run", "--full", "--out", folder, path); code != 0 {
		t.Fatalf("exit status %d, want 0\n%s", code, out)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the run changed the notebook itself")
	}
	executed := must.M1(os.ReadFile(filepath.Join(folder, "first.ipynb")))
	for _, want := range []string{"[3]float32{1, 4, 9}", "image/png", `"full\n"`, `| agent |`, "Dir is missing",
		"Not yet.** it is less than 3"} {
		if !strings.Contains(string(executed), want) {
			t.Errorf("the outputs do not have %q", want)
		}
	}
	if strings.Contains(string(executed), "**Right.**") {
		t.Error("the executed notebook has the output of an exercise's answer")
	}
	if text := string(executed); strings.Contains(strings.Split(text, "notebook.NewLive()")[1], "text/html") {
		t.Error("the outputs have a live display that was closed")
	}
}

// answer returns the Markdown cell with the answer of an exercise.
func answer(code string) string {
	return "<details><summary>Answer</summary>\n\nBecause.\n\n```go\n%%\n" + code + "\n```\n\n</details>"
}

func TestFailingCells(t *testing.T) {
	t.Parallel()
	run, dir := testprogram.Build(t), t.TempDir()
	args, before, want := []string{"run", "--inplace"}, map[string][]byte{}, []string{"3 of 3 notebooks failed"}
	for name, c := range map[string]struct{ cell, want string }{
		"panic":     {"%%\npanic(\"arm out of range\")", "panic: arm out of range"},
		"answer":    {answer("gonbui.DisplayMarkdown(\"**Not yet.** too small\")"), "does not pass its check: **Not yet.** too small"},
		"unchecked": {strings.Replace(answer("fmt.Println(2)"), "<summary>", "\n<summary>", 1), "does not pass its check: it shows nothing"},
	} {
		path := filepath.Join(dir, name+".ipynb")
		writeNotebook(t, path, "%env FIRST cell", c.cell, "!echo last")
		before[path], _ = os.ReadFile(path)
		args, want = append(args, path), append(want, c.want)
	}
	out, code := result(t, run, args...)
	if code != 1 || strings.Count(out, "cell 2:") != 3 {
		t.Errorf("exit status %d, want 1 and cell 2 of each notebook: output\n%s", code, out)
	}
	for _, w := range want {
		if !strings.Contains(out, w) {
			t.Errorf("the output does not have %q", w)
		}
	}
	for path, text := range before {
		if after, _ := os.ReadFile(path); !bytes.Equal(text, after) {
			t.Errorf("--inplace changed a notebook that failed: %s", path)
		}
	}
}

// Lines of pages and of cells in notebooks have at most 120 columns, like lines of code. Rows of tables, headings and
// formulas cannot be broken.
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
			t.Errorf("%s: line of %d columns, want at most 120: %s", where, n, line)
		}
	}
}

// committed is a notebook in the form that tests need.
type committed struct {
	Cells []struct {
		ID      string
		Type    string `json:"cell_type"`
		Source  []string
		Outputs []struct{ Data map[string]json.RawMessage }
	}
	Metadata struct {
		LanguageInfo map[string]string `json:"language_info"`
	}
	Minor int `json:"nbformat_minor"`
}

// allNotebooks reads the notebooks of the checkout, and the notebook of new projects.
func allNotebooks(t *testing.T) map[string][]byte {
	t.Helper()
	repo := testCheckout(t)
	paths, err := filepath.Glob(repo.path("notebooks", "*.ipynb"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("the checkout has no notebooks: %v", err)
	}
	all := map[string][]byte{}
	for _, path := range append(paths, repo.path("kernels", "project", "explore.ipynb.tmpl")) {
		all[path] = must.M1(os.ReadFile(path))
	}
	return all
}

// A notebook does not change when JupyterLab opens and saves it. It has the kernel's description of the language, ids
// of cells, sorted keys, an indentation of one space, and no empty outputs.
func TestNotebooksAreAsLabSavesThem(t *testing.T) {
	for path, text := range allNotebooks(t) {
		in := json.NewDecoder(bytes.NewReader(text))
		in.UseNumber()
		var whole any
		if err := in.Decode(&whole); err != nil {
			t.Errorf("cannot read %s: %v", path, err)
			continue
		}
		var saved bytes.Buffer
		out := json.NewEncoder(&saved)
		out.SetEscapeHTML(false)
		out.SetIndent("", " ")
		must.M(out.Encode(whole))
		if !bytes.Equal(saved.Bytes(), text) {
			t.Errorf("%s is not the JSON that JupyterLab writes: %s", path, firstDifference(text, saved.Bytes()))
		}
		var n committed
		must.M(json.Unmarshal(text, &n))
		if !maps.Equal(n.Metadata.LanguageInfo, layer.LanguageInfo()) || n.Minor != 5 {
			t.Errorf("%s: format 4.%d, language_info %v; want 4.5, %v", path, n.Minor, n.Metadata.LanguageInfo,
				layer.LanguageInfo())
		}
		for i, c := range n.Cells {
			if c.ID == "" {
				t.Errorf("%s: cell %d has no id", path, i+1)
			}
			for _, o := range c.Outputs {
				if html := string(o.Data["text/html"]); html == `""` || html == "[]" {
					t.Errorf("%s: cell %d has an empty output", path, i+1)
				}
			}
		}
	}
}

// firstDifference returns the first line that differs.
func firstDifference(got, want []byte) string {
	lines := strings.Split(string(want), "\n")
	for i, line := range strings.Split(string(got), "\n") {
		if i >= len(lines) || line != lines[i] {
			return fmt.Sprintf("line %d: %.100q", i+1, line)
		}
	}
	return "it ends early"
}

// The language version of the kernel is the version in go.mod, with which cells are compiled.
func TestLanguageVersion(t *testing.T) {
	text := must.M1(os.ReadFile(testCheckout(t).path("go.mod")))
	version := layer.LanguageInfo()["version"]
	if !regexp.MustCompile(`\ngo ` + regexp.QuoteMeta(version) + `[.\n]`).Match(text) {
		t.Errorf("the kernel reports Go %s, and go.mod has another version", version)
	}
}

// links matches links in Markdown and in HTML.
var links = regexp.MustCompile(`\]\(([^()\s]+)\)|(?m:^\[[^\]]+\]: *(\S+))|(?:href|src)="([^"]+)"`)

// A link in a notebook stays within the notebook's folder, because JupyterLab shows no other files, and its target
// exists.
func TestNotebookLinks(t *testing.T) {
	for path, text := range allNotebooks(t) {
		var n committed
		must.M(json.Unmarshal(text, &n))
		for i, c := range n.Cells {
			texts := []string{}
			if c.Type == "markdown" {
				texts = append(texts, strings.Join(c.Source, ""))
			}
			for _, o := range c.Outputs {
				html := strings.Split(joined(t, o.Data["text/html"]), `src="data:`) // pictures that are not files
				for i := range html[1:] {
					_, html[i+1], _ = strings.Cut(html[i+1], `"`)
				}
				texts = append(texts, joined(t, o.Data["text/markdown"]), strings.Join(html, ""))
			}
			for _, found := range links.FindAllStringSubmatch(strings.Join(texts, "\n"), -1) {
				if err := checkLink(filepath.Dir(path), strings.Join(found[1:], "")); err != nil {
					t.Errorf("%s, cell %d: wrong link: %v", path, i+1, err)
				}
			}
		}
	}
	for link, ok := range map[string]bool{"../README.md": false, "results/../../README.md": false, "missing.md": false,
		"/results": false, "results/README.md#the-table": true, "https://go.dev": true, "#top": true} {
		if err := checkLink(testCheckout(t).path("notebooks"), link); (err == nil) != ok {
			t.Errorf("link %s: got error %v", link, err)
		}
	}
}

// joined returns the text of an output, which is one string or a string for each line.
func joined(t *testing.T, raw json.RawMessage) (text string) {
	t.Helper()
	var lines []string
	if raw == nil || json.Unmarshal(raw, &text) == nil {
		return text
	}
	must.M(json.Unmarshal(raw, &lines))
	return strings.Join(lines, "")
}

// checkLink returns an error if a link of a page in a folder is wrong. It does not follow links to the web.
func checkLink(folder, link string) error {
	to, err := url.Parse(link)
	if err != nil || to.Scheme != "" || to.Host != "" || to.Path == "" {
		return err
	}
	if !filepath.IsLocal(to.Path) {
		return fmt.Errorf("link %s leads out of the folder of notebooks", link)
	}
	_, err = os.Stat(filepath.Join(folder, to.Path))
	return err
}
