package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/janpfeifer/must"
)

func ExampleRead() {
	a := must.M1(Arms(3))
	var store bytes.Buffer // or an object store
	must.M(a.Write(&store))
	b := must.M1(Read(Config{}.Arms(3), &store))
	d := must.M1(b.Act(context.Background(), nil))
	fmt.Println(len(d.Probabilities))
	// Output: 3
}

// Write writes the same bytes as Save, and Read reads both. A stream that is cut off, changed, or from a different
// agent is refused, and the errors of a reader or a writer are returned.
func TestWriteAndRead(t *testing.T) {
	c := Config{Waves: 5}.Contextual(3, 2)
	a := must.M1(New(c))
	m := Menu{Context: []float32{1, 2}}
	for range 20 {
		d := must.M1(a.Decide(t.Context(), m))
		must.M(a.Observe(t.Context(), Feedback{ID: d.ID, Reward: float32(d.Action)}))
	}
	path := filepath.Join(t.TempDir(), "agent")
	must.M(a.Save(path))
	var w bytes.Buffer
	must.M(a.Write(&w))
	written := w.Bytes()
	if !bytes.Equal(written, must.M1(os.ReadFile(path))) {
		t.Error("Write and Save give different bytes")
	}
	b := must.M1(Read(c, bytes.NewReader(written)))
	x := must.M1(a.Inputs(m))
	if b.Size() != 20 || !reflect.DeepEqual(must.M1(a.Sample(x, 5)), must.M1(b.Sample(x, 5))) {
		t.Errorf("agent that was read: got %v, want 20 data and the same samples", b)
	}
	changed := bytes.Clone(written)
	changed[len(changed)/2] ^= 1
	for _, bad := range [][]byte{nil, written[:len(written)/2], changed} {
		if _, err := Read(c, bytes.NewReader(bad)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d bytes: got error %v, want ErrDamaged", len(bad), err)
		}
	}
	if _, err := Read(Config{}.Contextual(3, 2), bytes.NewReader(written)); !errors.Is(err, ErrOtherConfig) {
		t.Errorf("another configuration: got error %v, want ErrOtherConfig", err)
	}
	failing := errors.New("no more")
	if _, err := Read(c, io.MultiReader(bytes.NewReader(written[:50]), failed{failing})); !errors.Is(err, failing) {
		t.Errorf("failing reader: got error %v, want its own", err)
	}
	if err := a.Write(failed{failing}); !errors.Is(err, failing) {
		t.Errorf("failing writer: got error %v, want its own", err)
	}
}

// failed is a reader and writer that fails.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error)  { return 0, f.err }
func (f failed) Write([]byte) (int, error) { return 0, f.err }
