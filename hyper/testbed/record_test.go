package testbed

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/internal/process"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

var header = Header{Sweep: "few", Batches: 20, Backend: "go", Provenance: lab.ThisProvenance("go")}

// A record continues where it stopped, even in the middle of a line, and keeps numbers that are not finite.
func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "few.jsonl")
	s := few(3, 5)
	r := must.M1(OpenRecord(path, header))
	add := func(number, tau int) {
		t.Helper()
		x := Result{Agent: "mlp", Problem: s.Problems[number], Tau: tau, KL: stats.Float(math.Inf(1))}
		must.M(r.Add([]Result{x}))
	}
	if _, err := OpenRecord(path, header); !errors.Is(err, process.ErrLocked) {
		t.Errorf("a second process opens the record: got error %v, want ErrLocked", err)
	}
	add(0, 1)
	add(0, 10)
	add(1, 1)
	must.M(r.Close())
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	_, _ = f.WriteString(`{"agent":"mlp","numb`)
	_ = f.Close()
	r = must.M1(OpenRecord(path, header))
	if left := r.remaining("mlp", s, defaultTaus).Problems; len(left) != 2 || left[0].Number != 1 {
		t.Errorf("problems left: got %+v, want 2, the first with number 1", left)
	}
	add(2, 1)
	if err := r.checkMade(Agent{Name: "mlp", Made: "other"}); !errors.Is(err, errRecord) || r.checkMade(Agent{Name: "mlp"}) != nil {
		t.Errorf("results of an agent with other settings: got error %v, want errRecord", err)
	}
	_ = r.Close()
	if err := r.Add(nil); err == nil || !errors.Is(r.Add(nil), err) {
		t.Errorf("after a write that failed: got errors %v and %v, want the same", err, r.Add(nil))
	}
	again, err := ReadRecord(path)
	if err != nil || len(again.Results) != 4 || !math.IsInf(float64(again.Results[3].KL), 1) ||
		again.Results[3].Problem != s.Problems[2] || again.Header.Provenance != header.Provenance {
		t.Errorf("record that was read: got %+v, error %v", again, err)
	}
}

func TestRecordRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.M(os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	head := `{"format":"hypermodels-testbed-1","sweep":"few"}` + "\n"
	for name, text := range map[string]string{
		"empty": "", "other": "{}\n", "no JSON": "a\n", "no result": head + "{}\n",
		"long": head + strings.Repeat("x", 1<<17) + "\n",
	} {
		if _, err := ReadRecord(write(name, text)); !errors.Is(err, errRecord) {
			t.Errorf("%s: got error %v, want errRecord", name, err)
		}
	}
	if _, err := OpenRecord(write("sweep", head), header); !errors.Is(err, errRecord) {
		t.Errorf("other number of batches: got error %v, want errRecord", err)
	}
	gomlx, later := header.Provenance, header.Provenance
	gomlx.GoMLX = "v0"
	later.Revision, later.Build = "a", ""
	earlier := later
	earlier.Epoch, earlier.Revision = later.Epoch-1, "b"
	for name, of := range map[string][2]lab.Provenance{
		"another GoMLX": {gomlx, header.Provenance}, "an earlier epoch": {earlier, later}, "a later epoch": {later, earlier},
	} {
		path, mixed := filepath.Join(dir, name), header
		mixed.Provenance = of[0]
		if r, err := OpenRecord(path, mixed); err != nil || r.Close() != nil {
			t.Fatal(err)
		}
		mixed.Provenance = of[1]
		if _, err := OpenRecord(path, mixed); !errors.Is(err, lab.ErrMixed) {
			t.Errorf("record by %s: got error %v, want ErrMixed", name, err)
		}
	}
}
