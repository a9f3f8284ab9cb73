package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/internal/markdown"
	"github.com/hypermodels/hypermodels/hyper/stats"
	"github.com/hypermodels/hypermodels/hyper/study"
)

const laterPage = resultsFolder + "/beyond/README.md"

// tabulated returns the table of agents of the committed results. It reads them once for all tests.
var tabulated = sync.OnceValue(func() beyond.Table { return must.M1(beyond.Tabulate(knownExperiments, resultsFolder, nil)) })

// The tables of agents and of claims in notebooks/results/beyond equal the committed results. -update writes them.
func TestTableOfLaterWork(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all studies of later work")
	}
	var agents strings.Builder
	writeTable(&agents, tabulated())
	has(t, laterPage, "<!-- hyper table", "\n<!-- end of hyper table -->", "\n"+agents.String())
	all := must.M1(study.NewArchive(filepath.Dir(laterPage), knownExperiments).JudgeClaims(beyond.Order, claimsOf))
	page := string(must.M1(os.ReadFile(laterPage)))
	before, _, ok := strings.Cut(page, "\n### ")
	if want := before + study.ClaimsTable(all); *update {
		must.M(os.WriteFile(laterPage, []byte(want), 0o644))
	} else if page != want || !ok {
		t.Errorf("the page differs from the results; -update writes it:\n%s", want)
	}
}

// published has means of cumulative regret after 10,000 periods and 30 seeds, in the order of the table. They were read
// by eye from figure 3 of ATS.
var published = []struct {
	agent string
	mean  float64
}{{"mlp", 770}, {"dropout", 220}, {"ensemble", 420}, {"ensemble+", 178}, {"hypermodel", 107}, {"epinet", 74}}

// The page shows the published means next to the project's intervals, and says which intervals do not contain them.
// -update writes the page.
func TestBeyondPublishedMeans(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all studies of later work")
	}
	has(t, laterPage, "<!-- published means", "\n<!-- end of published means -->", "\n"+publishedTable())
}

// publishedTable returns a table of published means and the project's intervals from three studies. Intervals that do
// not contain the published mean are bold.
func publishedTable() string {
	worlds := tabulated().Worlds
	sixty := must.M1(filepath.Glob(resultsFolder + "/beyond/testbed-bandit/sixty/*.gz"))
	h, all := must.M2(analysis.Read(knownExperiments, sixty...))
	standings := must.M1(analysis.Compare(h, all, beyond.TestbedBandit.Failure))
	var rows [][]string
	for _, p := range published {
		cell := func(x stats.Estimate) string {
			if float64(x.Lower) <= p.mean && p.mean <= float64(x.Upper) {
				return markdown.Interval(x)
			}
			return "**" + markdown.Interval(x) + "**"
		}
		of := func(w beyond.WorldRegrets) string {
			r, ok := w.Of(p.agent)
			if !ok {
				return ""
			}
			return cell(r.Regret[len(r.Regret)-1])
		}
		fresh := ""
		for _, s := range standings {
			if s.Agent == p.agent {
				fresh = cell(s.Mean)
			}
		}
		rows = append(rows, []string{p.agent, markdown.Number(p.mean), of(worlds[0]), fresh, of(worlds[1])})
	}
	return markdown.Table([]string{"Agent", "Published mean", "Ours, 10 runs", "Ours, 60 runs",
		"Ours, searched alike, 10 runs"}, rows)
}

// hyper table prints the table as Markdown and as JSON, and reports what a folder lacks.
func TestTable(t *testing.T) {
	dir := t.TempDir() // with three worlds
	must.M(os.Mkdir(dir+"/beyond", 0o755))
	for _, name := range []string{"testbed-bandit", "quadratic-bandit", "neural"} {
		must.M(os.Symlink(must.M1(filepath.Abs(resultsFolder+"/beyond/"+name)), dir+"/beyond/"+name))
	}
	status, out, errors := call(t, "table", "--study", dir)
	if status != 0 || !strings.HasPrefix(out, "| Agent | Operations") || !strings.Contains(out, "| network-gp | 1.0e6 |") {
		t.Errorf("exit status %d, want 0 and the table of agents: %s%s", status, out, errors)
	}
	var one beyond.Table
	if status, out, _ := call(t, "table", "--study", dir, "--json"); status != 0 ||
		json.Unmarshal([]byte(out), &one) != nil || len(one.Worlds) < 3 {
		t.Errorf("JSON: exit status %d, want 0 and at least 3 worlds: %s", status, out)
	}
	refuses(t, map[string]string{
		"table --study none": "there is no folder none: give --study DIR",
		"table":              "there is no folder notebooks/results: give --study DIR",
		"table --study .":    ".: no results of the testbed or of a world of the table: give --study DIR"})
}

// hyper check beyond prints the same table, and requires a folder.
func TestCheckOfLaterWork(t *testing.T) {
	results := t.TempDir() // with one experiment
	must.M(os.Symlink(must.M1(filepath.Abs(resultsFolder+"/beyond/quadratic-bandit")), results+"/quadratic-bandit"))
	_, out, _ := call(t, "check", laterWork, "--study", results)
	if !strings.Contains(out, "`joint-flat`") || !strings.Contains(out, "`eight-columns-near-exact`") ||
		strings.Contains(out, "`linear-near-exact`") {
		t.Error(out)
	}
	refused(t, []string{"check", laterWork}, "needs one --study DIR")
}
