package lab

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/janpfeifer/must"
)

// A line of a result file gives the same row, or an error, whether or not it is written as a run writes it.
func TestRowsAreParsedLikeJSON(t *testing.T) {
	lines := []string{"", "\n", "null\n", "{}\n", "[1]\n", `{"entry":1}` + "\n",
		`{"digest":9,"period":10,"entry":0,"run":1,"seed":7,"cumulative_regret":2.5}` + "\n",
		`{"entry": 0, "run": 1, "seed": 7, "period": 10, "cumulative_regret": 2.5, "digest": 9}` + "\n",
		`{"entry":0,"run":1,"seed":7,"period":10,"cumulative_regret":2.5,"digest":9,"more":true}` + "\n",
		`{"entry":0,"run":1,"seed":7,"period":10,"cumulative_regret":2.5,"digest":9}}` + "\n",
		`{"entry":0,"run":-1,"seed":7,"period":10,"cumulative_regret":2.5,"digest":9}` + "\n",
		`{"entry":0,"run":1.5,"seed":7,"period":10,"cumulative_regret":2.5,"digest":9}` + "\n",
		`{"entry":0,"run":1,"seed":7,"period":10,"cumulative_regret":1e999,"digest":9}` + "\n",
		`{"entry":0,"run":1,"seed":7,"period":10,"cumulative_regret":inf,"digest":9}` + "\n",
		`{"entry":0,"run":1,"seed":7,"period":10,"cumulative_regret":2.5,"digest":4294967296}` + "\n",
		`{"entry":0,"run":1,"seed":7,"period":10,"cumulative_regret":2.5,"digest":` + "\n",
		`{"entry":0,"run":01,"seed":7,"period":10,"cumulative_regret":2.5,"digest":9}` + "\n",
		`{"entry":0,"run":1,"seed":7,"period":10,"cumulative_regret":2.,"digest":9}` + "\n",
		`{"entry":0,"run":+1,"seed":7,"period":10,"cumulative_regret":-.5,"digest":9}` + "\n",
	}
	row := Row{Entry: 3, Run: 1, Seed: math.MaxUint64, Period: 100_000, Regret: 1.25e-7, Digest: math.MaxUint32}
	for range 2 {
		lines = append(lines, string(must.M1(json.Marshal(row)))+"\n")
		row.Regret, row.Diverged = -1e300, 17
	}
	for _, line := range lines {
		var got, want Row
		err, wantErr := got.parse([]byte(line)), json.Unmarshal([]byte(line), &want)
		if got != want || (err == nil) != (wantErr == nil) {
			t.Errorf("%s: got %+v, error %v, want %+v, error %v", line, got, err, want, wantErr)
		}
	}
}
