package paper_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// The searches of the protocol have budgets that are equal within 5%, rounds of 16 runs or more on the same seeds, and
// say by how much each candidate is behind the winner, with an error.
func TestSearchesHaveEqualBudgets(t *testing.T) {
	files := must.M1(filepath.Glob("../../notebooks/results/tuning/equal/*.json"))
	if len(files) < 9 {
		t.Fatalf("%d records, want 9 or more", len(files))
	}
	var first lab.Tuning
	for i, file := range files {
		var record lab.Tuning
		if err := json.Unmarshal(must.M1(os.ReadFile(file)), &record); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if i == 0 {
			first = record
		}
		if a, b := record.Budget(), first.Budget(); math.Abs(float64(a-b)) > 0.05*float64(b) {
			t.Errorf("%s: %d run-periods, and %s has %d", file, a, files[0], b)
		}
		if record.Seed != first.Seed || len(record.Rungs) != len(record.Plan) {
			t.Errorf("%s: seed %d, %d of %d rounds", file, record.Seed, len(record.Rungs), len(record.Plan))
		}
		for _, r := range record.Rungs {
			if r.Size.Runs < 16 {
				t.Errorf("%s: a round of %d runs", file, r.Size.Runs)
			}
			for _, o := range r.Results[1:] {
				if o.Diverged == 0 && !(o.Behind >= 0 && o.BehindSE > 0) {
					t.Errorf("%s: %v is behind by %v ± %v", file, o.Settings, o.Behind, o.BehindSE)
				}
			}
		}
	}
}
