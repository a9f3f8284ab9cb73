package notebook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
)

// lessonCell is a cell of a committed notebook.
type lessonCell struct {
	Kind    string `json:"cell_type"`
	Source  []string
	Outputs []struct {
		Data map[string]any
	}
}

func (c lessonCell) source() string { return strings.Join(c.Source, "") }

// lessons returns the cells of the committed notebooks, by file name.
func lessons() map[string][]lessonCell {
	all := map[string][]lessonCell{}
	for _, path := range must.M1(filepath.Glob("../../notebooks/*.ipynb")) {
		var nb struct{ Cells []lessonCell }
		must.M(json.Unmarshal(must.M1(os.ReadFile(path)), &nb))
		all[filepath.Base(path)] = nb.Cells
	}
	return all
}

// Lessons are short: a reader sees a whole cell at once, and finishes a lesson in an hour.
func TestLessonsAreShort(t *testing.T) {
	for name, cells := range lessons() {
		if len(cells) > 40 {
			t.Errorf("%s has %d cells, want at most 40", name, len(cells))
		}
		for i, c := range cells {
			if c.Kind == "code" && len(c.Source) > 15 {
				t.Errorf("%s, cell %d has %d lines, want at most 15", name, i, len(c.Source))
			}
		}
	}
}

// Each exercise is a cell with a wrong answer and a hint, followed by a cell with the right answer. `go run ./kernels
// run` runs the answers.
func TestExercises(t *testing.T) {
	answer := regexp.MustCompile("(?ms)\\A<details><summary>Answer</summary>\n\n.+?^```go\n.*?notebook\\.Check\\(.*?^```\n\n</details>")
	for name, cells := range lessons() {
		exercises := 0
		for i, c := range cells {
			if c.Kind != "code" || !strings.Contains(c.source(), "notebook.Check(") {
				continue
			}
			exercises++
			if i+1 == len(cells) || !answer.MatchString(cells[i+1].source()) {
				t.Errorf("%s, cell %d: the next cell is not the folded answer of the exercise", name, i)
			}
			before := ""
			for _, c := range cells[max(0, i-2):i] { // a cell may declare what the exercise needs
				before += c.source()
			}
			if !strings.Contains(before, "**Exercise ") {
				t.Errorf("%s, cell %d: no exercise before it", name, i)
			}
			shown := ""
			for _, o := range c.Outputs {
				text, _ := json.Marshal(o.Data["text/markdown"])
				shown += string(text)
			}
			if !strings.Contains(shown, wrongAnswer) || len(shown) < len(wrongAnswer)+20 {
				t.Errorf("%s, cell %d shows %s, want a hint after a wrong answer", name, i, shown)
			}
		}
		if report := name == "11-does-the-paper-hold.ipynb"; !report && (exercises < 3 || exercises > 5) {
			t.Errorf("%s has %d exercises, want 3 to 5", name, exercises)
		}
	}
}
