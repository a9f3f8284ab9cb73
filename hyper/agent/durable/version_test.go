package durable

import (
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

var rewrite = flag.Bool("write", false, "write testdata/v1 anew: only before a version is released")

// firstVersion are the records of testdata/v1. They never change: a new version of the format gets a folder of its own.
var firstVersion = []journal.Record{
	{Time: 1700000000000000000, Decision: &journal.Decision{ID: "1-00000001", Context: []float32{1, -0.5},
		Actions: [][]float32{{1, 2}, {3, 4}}, Action: 1, Probabilities: []float32{0.25, 0.75}, Input: []float32{3, 4, 1}}},
	{Time: 1700000000000000001, Decision: &journal.Decision{ID: "2-00000002", Arms: []int{3, 0},
		Probabilities: []float32{0.5, 0.5}}},
	{Time: 1700000000000000002, Feedback: &journal.Feedback{ID: "1-00000001", Reward: -2.5, Weight: 1}},
	{Time: 1700000000000000003, Datum: &journal.Datum{Input: []float32{1, 2}, Response: 3}},
	{Time: -1, Trained: &journal.Trained{Rounds: 7}},
}

// A log that version 1 wrote is read, and goes on. One record is in each of five writes; the process did not close it.
func TestFirstVersion(t *testing.T) {
	if *rewrite {
		must.M(os.RemoveAll("testdata/v1"))
		l := must.M1(Open(t.TempDir(), Options{Log: silent}))
		for _, r := range firstVersion {
			must.M1(put(l, r))
		}
		must.M(l.db.Checkpoint("testdata/v1"))
		must.M(l.Close())
	}
	dir := t.TempDir()
	must.M(os.CopyFS(dir, os.DirFS("testdata/v1")))
	l := must.M1(Open(dir, Options{Log: silent}))
	defer func() { must.M(l.Close()) }()
	got := kept(t, l, 0)
	for i := range got {
		got[i].Number = 0
	}
	if !reflect.DeepEqual(got, firstVersion) {
		t.Errorf("%+v", got)
	}
	if first := must.M1(put(l, firstVersion[0])); first != uint64(len(firstVersion)) {
		t.Errorf("the next record has number %d", first)
	}
}
