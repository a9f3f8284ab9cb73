package saved

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/janpfeifer/must"
)

// FuzzRead reads arbitrary bytes with the right checksum. The result is an error that wraps ErrDamaged, or values that
// can be written and read again as the same.
func FuzzRead(f *testing.F) {
	path := filepath.Join(f.TempDir(), "file")
	must.M(Write(path, content{Names: []string{"weights", "rounds"}, Round: 3},
		[]*tensors.Tensor{tensors.FromValue([][]float32{{1, 2}, {3, 4}}), tensors.FromValue(uint32(5))}))
	good := must.M1(os.ReadFile(path))
	f.Add(good[:len(good)-4])
	f.Add(good[:len(good)-9])
	f.Add(good[:len(magic)+12])
	f.Add([]byte{})
	for _, text := range hostile {
		if len(text) < 1000 {
			f.Add(text[:len(text)-4])
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		path, again := filepath.Join(dir, "file"), filepath.Join(dir, "again")
		must.M(os.WriteFile(path, summed(text), 0o600))
		var value, value2 content
		var state, state2 []*tensors.Tensor
		if err := Read(path, &value, &state); err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		must.M(Write(again, value, state))
		if err := Read(again, &value2, &state2); err != nil || !reflect.DeepEqual(value, value2) ||
			len(state) != len(state2) {
			t.Fatalf("second reading: got %+v with %d tensors, error %v, want %+v with %d",
				value2, len(state2), err, value, len(state))
		}
		for i := range state {
			if !state[i].Shape().Equal(state2[i].Shape()) {
				t.Errorf("tensor %d has shape %v, want %v", i, state2[i].Shape(), state[i].Shape())
			}
		}
	})
}
