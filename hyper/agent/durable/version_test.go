package durable

import (
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

var rewrite = flag.Bool("write", false, "write testdata/v2 anew: only before a version is released")

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

// secondVersion are the records of testdata/v2, with the kinds that are of version 2.
var secondVersion = []journal.Record{
	{Time: 1800000000000000000, Decision: &journal.Decision{ID: "1-00000001", Arms: []int{3, 0},
		Probabilities: []float32{0.5, 0.5}, Input: []float32{0.25}, Deferred: true}},
	{Time: 1800000000000000001, Shown: &journal.Shown{ID: "1-00000001"}},
	{Time: 1800000000000000002, Feedback: &journal.Feedback{ID: "1-00000001", Reward: 3, Weight: 1, Kept: true}},
	{Time: 1800000000000000003, Settled: &journal.Settled{ID: "1-00000001", Reward: 3, Weight: 1}},
	{Time: 1800000000000000004, Settled: &journal.Settled{ID: "0-00000001", Reward: -0.5, Weight: 1, Default: true}},
}

// A log that an earlier version wrote is read, and goes on. One record is in each write; the process did not close it.
func TestVersions(t *testing.T) {
	if *rewrite {
		must.M(os.RemoveAll("testdata/v2"))
		l := must.M1(Open(t.TempDir(), Options{Log: silent}))
		for _, r := range secondVersion {
			must.M1(put(l, r))
		}
		must.M(l.db.Checkpoint("testdata/v2"))
		must.M(l.Close())
	}
	for folder, want := range map[string][]journal.Record{"v1": firstVersion, "v2": secondVersion} {
		dir := t.TempDir()
		must.M(os.CopyFS(dir, os.DirFS("testdata/"+folder)))
		l := must.M1(Open(dir, Options{Log: silent}))
		got := kept(t, l, 0)
		for i := range got {
			got[i].Number = 0
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", folder, got)
		}
		if first := must.M1(put(l, want[0])); first != uint64(len(want)) {
			t.Errorf("%s: the next record has number %d", folder, first)
		}
		must.M(l.Close())
	}
}
