package journal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"github.com/janpfeifer/must"
)

var records = []Record{
	{Time: 1, Decision: &Decision{ID: "5-0000abcd", Action: 1, Probabilities: []float32{0.25, 0.75},
		Context: []float32{1}, Actions: [][]float32{{1, 2}, {3, 4}}, Input: []float32{3, 4, 1}}},
	{Time: -3, Decision: &Decision{Probabilities: []float32{1}}},
	{Decision: &Decision{ID: "x", Arms: []int{3, 0}, Probabilities: []float32{0.5, 0.5}}},
	{Datum: &Datum{Input: []float32{1, 2}, Response: 3}},
	{Time: 1 << 60, Feedback: &Feedback{ID: "5-0000abcd", Reward: -2.5, Weight: 1}},
	{Trained: &Trained{Rounds: 7}},
	{Time: 2, Decision: &Decision{ID: "y", Probabilities: []float32{1}, Input: []float32{0.5}, Deferred: true}},
	{Time: 3, Shown: &Shown{ID: "y"}},
	{Time: 4, Feedback: &Feedback{ID: "y", Reward: 1, Weight: 1, Kept: true}},
	{Time: 5, Settled: &Settled{ID: "y", Reward: 2, Weight: 1}},
	{Time: 6, Settled: &Settled{ID: "5-0000abcd", Weight: 1, Default: true}},
	{Time: 7, Arms: &Arms{Like: []int{-1, -1, 0}, Offered: []int{2, 0}, Names: []string{"old", "new", "newer"},
		Was: 2}},
	{Arms: &Arms{Like: []int{-1, -1}, Offered: []int{1, 0}, Anew: true}},
	{Time: 8, Features: &Features{Context: Named{[]string{"age", "visits"}, 16}, WasContext: Named{[]string{"age"}, 16}}},
}

// A record that is encoded can be decoded, and a record with a changed or missing byte cannot.
func TestRecords(t *testing.T) {
	for _, r := range records {
		data := must.M1(r.Encode())
		got, err := Decode(data)
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("decoded record: got %+v, error %v, want the encoded one", got, err)
		}
		for i := range data {
			if _, err := Decode(data[:i]); !errors.Is(err, ErrDamaged) {
				t.Errorf("%d of %d bytes: got error %v, want ErrDamaged", i, len(data), err)
			}
			changed := append([]byte(nil), data...)
			changed[i] ^= 0x10
			if _, err := Decode(changed); err == nil {
				t.Errorf("changed byte %d: got no error", i)
			}
		}
		if _, err := Decode(append(data, 0)); !errors.Is(err, ErrDamaged) {
			t.Errorf("one byte more: got error %v, want ErrDamaged", err)
		}
	}
	data, _ := records[0].Encode()
	data[0] = 4
	if _, err := Decode(data); err == nil || !strings.Contains(err.Error(),
		"version 4, and this program reads versions 1 to 3") {
		t.Error(err)
	}
	for _, r := range []Record{{}, {Decision: &Decision{Action: 1, Probabilities: []float32{1}}},
		{Decision: &Decision{Actions: [][]float32{{1}, {}}, Probabilities: []float32{1}}},
		{Feedback: &Feedback{}, Trained: &Trained{}}, {Trained: &Trained{Rounds: -1}},
		{Feedback: &Feedback{ID: strings.Repeat("x", mostID+1)}}, {Arms: &Arms{}},
		{Arms: &Arms{Like: []int{-1, 1}, Offered: []int{0}}}, {Arms: &Arms{Like: []int{-1}, Offered: []int{0, 0}}},
		{Features: &Features{Action: Named{Buckets: -1}}}} {
		if _, err := r.Encode(); err == nil {
			t.Errorf("Encode of the invalid record %+v: got no error", r)
		}
	}
}

// Any bytes with a correct checksum are decoded or refused. A decoded record can be encoded again, and decodes to the
// same record.
func FuzzDecode(f *testing.F) {
	for _, r := range records {
		data, _ := r.Encode()
		f.Add(data[:len(data)-4])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		data := binary.LittleEndian.AppendUint32(append([]byte(nil), body...), crc32.Checksum(body, castagnoli))
		r, err := Decode(data)
		if err != nil {
			return
		}
		again, err := r.Encode()
		if err != nil {
			t.Fatalf("record %+v was read, but cannot be written: %v", r, err)
		}
		if back, err := Decode(again); err != nil || len(again) > len(data) {
			t.Fatalf("record %+v was written as %x, and read as %+v: %v", r, again, back, err)
		}
	})
}

// The bytes of records of version 1 never change: a log of a program that knows only version 1 can be continued.
func TestFirstVersionBytes(t *testing.T) {
	sum := crc32.New(castagnoli)
	for _, r := range records[:6] {
		data, err := r.Encode()
		if err != nil || data[0] != 1 {
			t.Fatalf("got version %d, error %v, want version 1", data[0], err)
		}
		sum.Write(data)
	}
	if got := sum.Sum32(); got != 0x536edf0a {
		t.Errorf("the checksum of the records is %#x", got)
	}
}
