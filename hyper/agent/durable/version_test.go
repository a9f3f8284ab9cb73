package durable

import (
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

var rewrite = flag.Bool("write", false, "write the logs of testdata anew: only before a version is released")

// written has the records of testdata/v2. They never change: a new version of the format gets its own folder.
var written = []journal.Record{
	{Time: 1700000000000000000, Decision: &journal.Decision{ID: "1-00000001", Context: []float32{1, -0.5},
		Actions: [][]float32{{1, 2}, {3, 4}}, Action: 1, Probabilities: []float32{0.25, 0.75}, Input: []float32{3, 4, 1}}},
	{Time: 1700000000000000001, Decision: &journal.Decision{ID: "2-00000002", Arms: []int{3, 0},
		Probabilities: []float32{0.5, 0.5}}},
	{Time: 1700000000000000002, Feedback: &journal.Feedback{ID: "1-00000001", Reward: -2.5, Weight: 1}},
	{Time: 1700000000000000003, Datum: &journal.Datum{Input: []float32{1, 2}, Response: 3}},
	{Time: -1, Trained: &journal.Trained{Rounds: 7}},
}

// settling has the records of testdata/v2-settled, with the kinds that version 2 of journal added.
var settling = []journal.Record{
	{Time: 1800000000000000000, Decision: &journal.Decision{ID: "1-00000001", Arms: []int{3, 0},
		Probabilities: []float32{0.5, 0.5}, Input: []float32{0.25}, Deferred: true}},
	{Time: 1800000000000000001, Shown: &journal.Shown{ID: "1-00000001"}},
	{Time: 1800000000000000002, Feedback: &journal.Feedback{ID: "1-00000001", Reward: 3, Weight: 1, Kept: true}},
	{Time: 1800000000000000003, Settled: &journal.Settled{ID: "1-00000001", Reward: 3, Weight: 1}},
	{Time: 1800000000000000004, Settled: &journal.Settled{ID: "0-00000001", Reward: -0.5, Weight: 1, Default: true}},
}

// changing has the records of testdata/v2-arms, with the kinds that version 3 of journal added.
var changing = []journal.Record{
	{Time: 1900000000000000000, Arms: &journal.Arms{Like: []int{-1, -1, 0}, Offered: []int{2, 0},
		Names: []string{"old", "new", "newer"}, Was: 2}},
	{Time: 1900000000000000001, Decision: &journal.Decision{ID: "1-00000001", Arms: []int{2, 0},
		Probabilities: []float32{0.5, 0.5}, Input: []float32{2, 0.25}}},
	{Time: 1900000000000000002, Arms: &journal.Arms{Like: []int{-1, -1, -1}, Offered: []int{0, 1, 2}, Was: 3, Anew: true}},
	{Time: 1900000000000000003, Features: &journal.Features{Context: journal.Named{Names: []string{"age", "visits"}, Buckets: 4},
		WasContext: journal.Named{Names: []string{"age"}, Buckets: 4}}},
}

// Logs that version 2 wrote can be read and continued. Each write has one record; the processes did not close the logs.
func TestVersion(t *testing.T) {
	for folder, want := range map[string][]journal.Record{"testdata/v2": written, "testdata/v2-settled": settling,
		"testdata/v2-arms": changing} {
		if *rewrite {
			must.M(os.RemoveAll(folder))
			l := must.M1(Open(folder, Options{Log: silent}))
			for _, r := range want {
				must.M1(put(l, r))
			}
			must.M(os.Remove(folder + "/LOCK")) // and the process ends without closing the log
			continue
		}
		dir := t.TempDir()
		must.M(os.CopyFS(dir, os.DirFS(folder)))
		l := must.M1(Open(dir, Options{Log: silent}))
		if got := kept(t, l, 0); !reflect.DeepEqual(got, want) {
			t.Errorf("log %s: got records %+v, want the ones that were written", folder, got)
		}
		if first := must.M1(put(l, want[0])); first != uint64(len(want)) {
			t.Errorf("%s: the next record has number %d, want the number of written records", folder, first)
		}
		must.M(l.Close())
	}
}
