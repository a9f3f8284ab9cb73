package analysis

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/internal/toys"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// The commits of the tests.
const (
	commitOld = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	commitNow = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// Results of version 0.1.0 without a revision have epoch 3. Epoch 4 concerns toys with 3 arms.
var toyEpochs = []lab.Change{{Epoch: 3, Revision: "1234567", What: "all is new"},
	{Epoch: 4, What: "three arms are new", Experiments: []string{"toys"},
		Agents: []string{"toy"}, Sets: []string{"arms=3,4"}}}

// pieceBy makes a file with results of toys from the given code.
func pieceBy(t *testing.T, arms int, seed uint64, code lab.Provenance) string {
	t.Helper()
	dir := toys.Write(t, []int{arms}, 2, 20, seed, toys.Linear)
	path := filepath.Join(dir, lab.ResultsFile)
	text := must.M1(os.ReadFile(path))
	by := must.M1(json.Marshal(code))
	head := `"version":"0.1.0"`
	if code != (lab.Provenance{}) {
		head += `,"provenance":` + string(by)
	}
	must.M(os.WriteFile(path, []byte(strings.Replace(string(text), `"version":""`, head, 1)), 0o600))
	return dir
}

// Pieces of several revisions are joined silently if none of their entries changed between the revisions, and otherwise
// only on request.
func TestStudyOfSeveralRevisions(t *testing.T) {
	before := lab.Changes
	lab.Changes = toyEpochs
	t.Cleanup(func() { lab.Changes = before })
	old, now, edited := lab.Provenance{Epoch: 3, Revision: commitOld}, lab.Provenance{Epoch: 4, Revision: commitNow},
		lab.Provenance{Epoch: 4, Revision: commitNow, Modified: true, Build: "x"}
	for name, c := range map[string]struct {
		pieces []string
		code   int    // number of versions of the code in the joined header
		want   string // in the error, or "" for none
	}{
		"one revision":     {[]string{pieceBy(t, 3, 1, now), pieceBy(t, 3, 5, now)}, 1, ""},
		"nothing recorded": {[]string{pieceBy(t, 3, 1, lab.Provenance{}), pieceBy(t, 3, 5, lab.Provenance{})}, 1, ""},
		"two arms, unchanged": {[]string{pieceBy(t, 2, 1, lab.Provenance{}), pieceBy(t, 2, 5, now),
			pieceBy(t, 2, 9, old)}, 3, ""},
		"three arms of now":  {[]string{pieceBy(t, 2, 1, old), pieceBy(t, 3, 1, now)}, 2, ""},
		"three arms of then": {[]string{pieceBy(t, 2, 1, now), pieceBy(t, 3, 1, old)}, 2, "three arms are new"},
		"three arms, not recorded": {[]string{pieceBy(t, 3, 1, lab.Provenance{}), pieceBy(t, 2, 5, now)}, 2,
			"not recorded"},
		"edited":                   {[]string{pieceBy(t, 2, 1, now), pieceBy(t, 2, 5, edited)}, 2, "modified"},
		"edited, the same program": {[]string{pieceBy(t, 2, 1, edited), pieceBy(t, 2, 5, edited)}, 1, ""},
		"the third is of old toys": {[]string{pieceBy(t, 2, 1, now), pieceBy(t, 2, 5, old), pieceBy(t, 3, 5, old)}, 2,
			"three arms are new"},
		"all three, each with each": {[]string{pieceBy(t, 3, 5, old), pieceBy(t, 2, 1, edited), pieceBy(t, 3, 1, now)},
			3, "modified"},
	} {
		h, rows, err := Read(toys.Known, c.pieces...)
		if c.want == "" && err != nil || c.want != "" &&
			(!errors.Is(err, lab.ErrMixed) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
		if c.want != "" {
			if !strings.Contains(err.Error(), c.pieces[len(c.pieces)-1]) &&
				!strings.Contains(err.Error(), c.pieces[1]) {
				t.Errorf("%s: the error names no piece: %v", name, err)
			}
			var why error
			if h, rows, err = (Reader{Mix: func(err error) { why = err }}).Read(toys.Known, c.pieces...); !errors.Is(why,
				lab.ErrMixed) || err != nil {
				t.Errorf("%s: Mix was called with %v, and the error is %v", name, why, err)
			}
		}
		if len(h.Code()) != c.code || len(rows) == 0 {
			t.Errorf("%s: %d rows of %v, want %d", name, len(rows), h.Code(), c.code)
		}
	}
}
