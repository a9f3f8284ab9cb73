package notebook

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/study"
)

var update = flag.Bool("update", false, "write the answers that results give now into the outputs of notebooks")

// quoted matches an answer in the output of a notebook, in JSON. The number is the number of the sentence.
var quoted = regexp.MustCompile(`"\* \*\*([0-9]+)\. (?:[^"\\]|\\.)*\\n"`)

// The answers in the outputs of notebooks equal the answers of the present results. With -update the test writes the
// answers, so that new results need no new execution.
func TestNotebooksQuoteTheAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the studies of the paper")
	}
	t.Chdir("../../notebooks")
	files := must.M1(filepath.Glob("*.ipynb"))
	quoting, list := 0, strings.SplitAfter(listOf(answers(), nil), "\n")
	for _, file := range files {
		text := string(must.M1(os.ReadFile(file)))
		now := quoted.ReplaceAllStringFunc(text, func(line string) string {
			n := must.M1(strconv.Atoi(quoted.FindStringSubmatch(line)[1]))
			var b strings.Builder
			encoder := json.NewEncoder(&b)
			encoder.SetEscapeHTML(false)
			must.M(encoder.Encode(list[n-1]))
			return strings.TrimSpace(b.String())
		})
		if quoted.MatchString(text) {
			quoting++
		}
		if *update && now != text {
			must.M(os.WriteFile(file, []byte(now), 0o644))
		} else if now != text {
			t.Errorf("the answers in %s differ from the results; -update writes them", file)
		}
	}
	if quoting < 8 {
		t.Errorf("%d notebooks quote answers, want 8 or more", quoting)
	}
}

// Notebook 11 shows the answers, the comparisons and the means of the present results.
func TestReportIsUpToDate(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the studies of the paper")
	}
	var shown strings.Builder
	for _, c := range lessons()["11-does-the-paper-hold.ipynb"] {
		for _, o := range c.Outputs {
			if parts, ok := o.Data["text/markdown"].([]any); ok {
				for _, part := range parts {
					fmt.Fprint(&shown, part)
				}
			}
		}
	}
	t.Chdir("../../notebooks")
	want := LikeForLike() + study.AnswersTable(answers())
	for _, a := range answers() {
		want += a.ComparisonsTable()
	}
	for line := range strings.Lines(want) {
		if !strings.Contains(shown.String(), strings.TrimSpace(line)) {
			t.Errorf("notebook 11 lacks this line; execute it again with `go run ./kernels run --inplace`:\n%s", line)
		}
	}
}

// No notebook judges the paper in other words than the answers.
func TestNotebooksHaveNoOtherVerdicts(t *testing.T) {
	for file, cells := range lessons() {
		if strings.HasPrefix(file, "12") { // claims of later work are not in the paper
			continue
		}
		for i, c := range cells {
			for _, word := range []string{"reproduced", "refuted", "undecided", "verdict"} {
				if strings.Contains(strings.ToLower(c.source()), word) {
					t.Errorf("%s, cell %d has the word %q: use the answers of paper.Sentences", file, i, word)
				}
			}
		}
	}
}
