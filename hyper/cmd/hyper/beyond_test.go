package main

import (
	"os"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/beyond"
)

// The table of claims in notebooks/results/beyond is what the committed results say; -update writes it.
func TestTableOfLaterWork(t *testing.T) {
	const dir = "../../../notebooks/results/beyond"
	all := must.M1(judgeFolder(beyond.Order, dir, false))
	var table strings.Builder
	writeClaims(&table, all)
	page := string(must.M1(os.ReadFile(dir + "/README.md")))
	before, _, ok := strings.Cut(page, "\n### ")
	if !ok {
		t.Fatal("the page has no place for the table")
	}
	want := before + table.String()
	if *update {
		must.M(os.WriteFile(dir+"/README.md", []byte(want), 0o644))
	} else if page != want {
		t.Errorf("the page is not what the results say; -update writes it:\n%s", want)
	}
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
