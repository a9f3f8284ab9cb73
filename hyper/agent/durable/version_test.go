package durable

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

var rewrite = flag.Bool("write", false, "write testdata/v2 anew: only before a version is released")

// written are the records of testdata/v2. They never change: a new version of the format gets a folder of its own.
// Those of version 1, in Pebble, are in the testdata of convertlog.
var written = []journal.Record{
	{Time: 1700000000000000000, Decision: &journal.Decision{ID: "1-00000001", Context: []float32{1, -0.5},
		Actions: [][]float32{{1, 2}, {3, 4}}, Action: 1, Probabilities: []float32{0.25, 0.75}, Input: []float32{3, 4, 1}}},
	{Time: 1700000000000000001, Decision: &journal.Decision{ID: "2-00000002", Arms: []int{3, 0},
		Probabilities: []float32{0.5, 0.5}}},
	{Time: 1700000000000000002, Feedback: &journal.Feedback{ID: "1-00000001", Reward: -2.5, Weight: 1}},
	{Time: 1700000000000000003, Datum: &journal.Datum{Input: []float32{1, 2}, Response: 3}},
	{Time: -1, Trained: &journal.Trained{Rounds: 7}},
}

// A log that version 2 wrote is read, and goes on. One record is in each of five writes; the process did not close it.
func TestVersion(t *testing.T) {
	if *rewrite {
		must.M(os.RemoveAll("testdata/v2"))
		l := must.M1(Open("testdata/v2", Options{Log: silent}))
		for _, r := range written {
			must.M1(put(l, r))
		}
		must.M(os.Remove("testdata/v2/LOCK")) // and the process ends without closing the log
		return
	}
	dir := t.TempDir()
	must.M(os.CopyFS(dir, os.DirFS("testdata/v2")))
	l := must.M1(Open(dir, Options{Log: silent}))
	defer func() { must.M(l.Close()) }()
	if got := kept(t, l, 0); !reflect.DeepEqual(got, written) {
		t.Errorf("%+v", got)
	}
	if first := must.M1(put(l, written[0])); first != uint64(len(written)) {
		t.Errorf("the next record has number %d", first)
	}
}

// A log of version 1 is refused, with the command that converts it, and stays as it was.
func TestFirstVersion(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	must.M(os.CopyFS(dir, os.DirFS("../../cmd/convertlog/testdata/v1")))
	for _, only := range []bool{false, true} {
		before := must.M1(os.ReadDir(dir))
		_, err := Open(dir, Options{Log: silent, ReadOnly: only})
		if err == nil || !strings.Contains(err.Error(), "`go run ./hyper/cmd/convertlog "+dir+"`") {
			t.Errorf("ReadOnly %v: %v", only, err)
		}
		after := must.M1(os.ReadDir(dir))
		if !only {
			after = after[1:] // LOCK
		}
		if len(before) != len(after) {
			t.Errorf("%v, and before %v", after, before)
		}
	}
}
