package lab

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/janpfeifer/must"
)

// After a write that failed nothing is appended, because the last line may be incomplete.
func TestWriterStopsAfterAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), ResultsFile)
	must.M(os.WriteFile(path, nil, 0o600))
	w := writer{file: must.M1(os.Open(path)), rows: map[int][]Row{}, done: map[int]bool{}} // cannot be written
	_, first := w.offer(0, []Row{{Run: 1}}, false)
	must.M(w.file.Close())
	w.file = must.M1(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)) // now it can
	_, second := w.offer(0, []Row{{Run: 1}, {Run: 2}}, true)
	must.M(w.file.Close())
	if text := must.M1(os.ReadFile(path)); first == nil || !errors.Is(second, first) || len(text) > 0 {
		t.Errorf("got errors %v and %v, and the file %q; want the same error, and no rows", first, second, text)
	}
}
