package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// Marks around the table of agents.
const (
	agentsBegin = "<!-- hyper table; go test ./hyper/cmd/hyper -run LaterWork -update -->\n\n"
	agentsEnd   = "\n<!-- end of hyper table -->"
)

// The tables of agents and of claims in notebooks/results/beyond are what the committed results say; -update writes
// them.
func TestTableOfLaterWork(t *testing.T) {
	const dir = "../../../notebooks/results/beyond"
	all := must.M1(judgeFolder(beyond.Order, dir, false))
	var table strings.Builder
	writeClaims(&table, all)
	page := string(must.M1(os.ReadFile(dir + "/README.md")))
	before, _, ok := strings.Cut(page, "\n### ")
	text, rest, agents := strings.Cut(before, agentsBegin)
	_, rest, ends := strings.Cut(rest, agentsEnd)
	if !ok || !agents || !ends {
		t.Fatal("the page has no place for the tables")
	}
	var both strings.Builder
	writeTable(&both, must.M1(beyond.Tabulate(paper.Known, filepath.Dir(dir), nil)))
	want := text + agentsBegin + both.String() + agentsEnd + rest + table.String()
	if *update {
		must.M(os.WriteFile(dir+"/README.md", []byte(want), 0o644))
	} else if page != want {
		t.Errorf("the page is not what the results say; -update writes it:\n%s", want)
	}
}

// hyper table prints the table, as Markdown and as JSON, and says what a folder lacks.
func TestTable(t *testing.T) {
	dir := must.M1(filepath.Abs("../../../notebooks/results"))
	status, out, errors := call(t, "table", "--study", dir)
	if status != 0 || !strings.HasPrefix(out, "| Agent | Operations") || !strings.Contains(out, "| network-gp | 1.0e6 |") {
		t.Errorf("status %d: %s%s", status, out, errors)
	}
	var one beyond.Table
	if status, out, _ := call(t, "table", "--study", dir, "--json"); status != 0 ||
		json.Unmarshal([]byte(out), &one) != nil || len(one.Worlds) < 3 {
		t.Errorf("JSON: status %d: %s", status, out)
	}
	refuses(t, map[string]string{
		"table --study none": "there is no folder none: give --study DIR",
		"table":              "there is no folder notebooks/results: give --study DIR",
		"table --study .":    ".: no results of the testbed or of a world of the table: give --study DIR"})
}

// The command prints the same table, and wants a folder.
func TestCheckOfLaterWork(t *testing.T) {
	_, out, _ := call(t, "check", beyond.Name, "--study", must.M1(os.Getwd())+"/../../../notebooks/results/beyond")
	if !strings.Contains(out, "`joint-flat`") || !strings.Contains(out, "`eight-columns-near-exact`") ||
		strings.Contains(out, "`linear-near-exact`") {
		t.Error(out)
	}
	if status, _, err := call(t, "check", beyond.Name); status != 2 || !strings.Contains(err, "needs one --study DIR") {
		t.Errorf("exit status %d: %s", status, err)
	}
}
