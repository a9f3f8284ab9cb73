package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/agent/durable"
	"github.com/hypermodels/hypermodels/hyper/agent/journal"
)

// firstVersion are the records of testdata/v1, a log that version 1 wrote and did not close.
var firstVersion = []journal.Record{
	{Time: 1700000000000000000, Decision: &journal.Decision{ID: "1-00000001", Context: []float32{1, -0.5},
		Actions: [][]float32{{1, 2}, {3, 4}}, Action: 1, Probabilities: []float32{0.25, 0.75}, Input: []float32{3, 4, 1}}},
	{Number: 1, Time: 1700000000000000001, Decision: &journal.Decision{ID: "2-00000002", Arms: []int{3, 0},
		Probabilities: []float32{0.5, 0.5}}},
	{Number: 2, Time: 1700000000000000002, Feedback: &journal.Feedback{ID: "1-00000001", Reward: -2.5, Weight: 1}},
	{Number: 3, Time: 1700000000000000003, Datum: &journal.Datum{Input: []float32{1, 2}, Response: 3}},
	{Number: 4, Time: -1, Trained: &journal.Trained{Rounds: 7}},
}

// opened returns the records of a log, and the number of the next.
func opened(t *testing.T, dir string) (all []journal.Record, next uint64) {
	t.Helper()
	l := must.M1(durable.Open(dir, durable.Options{Log: slog.New(slog.DiscardHandler)}))
	defer func() { must.M(l.Close()) }()
	for r, err := range l.All(0) {
		must.M(err)
		all = append(all, r)
	}
	return all, l.Next()
}

// A log of version 1 is converted: its records are there with their numbers, and the log before remains as it was.
func TestConvert(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	must.M(os.CopyFS(dir, os.DirFS("testdata/v1")))
	if n := must.M1(convert(dir)); n != len(firstVersion) {
		t.Errorf("converted %d records, want all", n)
	}
	if all, next := opened(t, dir); !reflect.DeepEqual(all, firstVersion) || next != 5 {
		t.Errorf("the next number is %d, want 5, after %+v", next, all)
	}
	for _, file := range must.M1(os.ReadDir("testdata/v1")) {
		was := must.M1(os.ReadFile(filepath.Join("testdata/v1", file.Name())))
		if now := must.M1(os.ReadFile(filepath.Join(dir+".old", file.Name()))); string(now) != string(was) {
			t.Errorf("file %s of the old log has changed", file.Name())
		}
	}
	if _, err := convert(dir); err == nil || !strings.Contains(err.Error(), "no log of a version before") {
		t.Errorf("second conversion: got error %v, want one that says that there is no old log", err)
	}
}

// A log whose first records were trimmed keeps the numbers of the others, of many more than are written at once.
func TestConvertTrimmed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	begun(t, dir, 7, 2507)
	if n := must.M1(convert(dir)); n != 2500 {
		t.Errorf("converted %d records, want 2500", n)
	}
	all, next := opened(t, dir)
	if len(all) != 2500 || next != 2507 || all[0].Number != 7 || all[2499].Trained.Rounds != 2506 {
		t.Errorf("got %d records and next number %d, want 2500 and 2507", len(all), next)
	}
}

// begun makes a log of version 1 with the records from a number to another.
func begun(t *testing.T, dir string, from, to int) {
	t.Helper()
	db := must.M1(pebble.Open(dir, &pebble.Options{Logger: quiet{}, FormatMajorVersion: pebble.FormatNewest}))
	defer func() { must.M(db.Close()) }()
	for i := from; i < to; i++ {
		r := must.M1(journal.Record{Trained: &journal.Trained{Rounds: i}}.Encode())
		must.M(db.Set([]byte{'r', 0, 0, 0, 0, 0, 0, byte(i >> 8), byte(i)}, r, pebble.NoSync))
	}
}

// A log that a record is missing from, or of which one is damaged, is refused and stays as it was; so is one that a
// server has, and one whose place for the log before is taken.
func TestRefused(t *testing.T) {
	for what, spoil := range map[string]func(dir string, db *pebble.DB){
		"records are missing: 3 to 3": func(_ string, db *pebble.DB) {
			must.M(db.Delete([]byte{'r', 0, 0, 0, 0, 0, 0, 0, 3}, pebble.Sync))
		},
		"record 3: the record has version 49": func(_ string, db *pebble.DB) {
			must.M(db.Set([]byte{'r', 0, 0, 0, 0, 0, 0, 0, 3}, []byte("1234567890"), pebble.Sync))
		},
		"log.old is there already": func(dir string, _ *pebble.DB) { must.M(os.Mkdir(dir+".old", 0o700)) },
	} {
		dir := filepath.Join(t.TempDir(), "log")
		begun(t, dir, 0, 6)
		db := must.M1(pebble.Open(dir, &pebble.Options{Logger: quiet{}}))
		if _, err := convert(dir); err == nil || !strings.Contains(err.Error(), "whose server must have ended") {
			t.Errorf("open log: got error %v, want one that says that its server must have ended", err)
		}
		spoil(dir, db)
		must.M(db.Close())
		if _, err := convert(dir); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want %s, got %v", what, err)
		}
		if _, err := os.Stat(dir + ".converting"); err == nil {
			t.Errorf("%s: a part of the new log remains", what)
		}
		must.M(must.M1(pebble.Open(dir, &pebble.Options{Logger: quiet{}, ReadOnly: true})).Close())
	}
}
