package beyond_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// The table of a folder has the agents and the worlds with results, under the table's names. Tabulate reports the
// faults of a folder.
func TestTabulate(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates three experiments")
	}
	dir := t.TempDir()
	if _, err := beyond.Tabulate(beyond.Known, dir, nil); !errors.Is(err, beyond.ErrNoResults) {
		t.Errorf("an empty folder: %v", err)
	}
	quadratic := filepath.Join(dir, "beyond", "quadratic-bandit")
	piece(t, beyond.QuadraticBandit, []string{"linear"}, filepath.Join(quadratic, "linear.jsonl.gz"))
	small := filepath.Join(dir, "beyond", "testbed-bandit", "small")
	piece(t, beyond.TestbedBandit, []string{"network-gp", "hypermodel", "mlp"}, filepath.Join(small, "two.jsonl.gz"))
	table := must.M1(beyond.Tabulate(beyond.Known, dir, nil))
	if !slices.Equal(table.Agents, []string{"mlp", "hypermodel", "network-gp"}) || len(table.Worlds) != 2 {
		t.Fatalf("agents %v, %d worlds", table.Agents, len(table.Worlds))
	}
	mlp, ok := table.Worlds[0].Of("mlp")
	if !ok || mlp.Runs != 2 || !slices.Equal(mlp.Periods, []int{10, 31, 100}) || mlp.Operations <= 0 ||
		mlp.Regret[2].Value < mlp.Regret[0].Value {
		t.Errorf("mlp: %+v", mlp)
	}
	of, _ := table.Worlds[0].Of(beyond.Reference)
	want := mlp.Regret[2].Value / of.Regret[2].Value
	if mlp.Ratio == nil || math.Abs(float64(mlp.Ratio.Value-want)) > 1e-3 || of.Ratio != nil {
		t.Errorf("ratio of mlp %v, want %v; of the hypermodel itself %v", mlp.Ratio, want, of.Ratio)
	}
	if _, ok := table.Worlds[1].Of("linear"); ok {
		t.Error("the hypermodel has the name linear")
	}
	costs := filepath.Join(dir, "beyond", "testbed-bandit", "costs.json")
	piece(t, beyond.TestbedBandit, []string{"mlp"}, filepath.Join(dir, "beyond", "testbed-bandit", "mlp.jsonl.gz"))
	spec := must.M1(beyond.TestbedBandit.Spec([]string{"mlp"}, smallSets, lab.Size{Periods: 100, Runs: 2}, 3))
	offer := analysis.Tradeoff{Agent: "mlp", Settings: catalog.Values(spec.Entries[0].Setting), Micros: 7, Bytes: 8}
	must.M(os.WriteFile(costs, append(must.M1(json.Marshal(offer)), '\n'), 0o644))
	table = must.M1(beyond.Tabulate(beyond.Known, dir, nil))
	if mlp, _ = table.Worlds[0].Of("mlp"); mlp.Micros != 7 || mlp.Bytes != 8 {
		t.Errorf("costs of mlp: %+v", mlp)
	}
	must.M(os.WriteFile(costs, []byte("seven\n"), 0o644))
	_, err := beyond.Tabulate(beyond.Known, dir, nil)
	if err == nil || !strings.Contains(err.Error(), "line 1 was not printed by") {
		t.Errorf("costs that are none: %v", err)
	}
	must.M(os.Remove(costs))
	piece(t, beyond.TestbedBandit, []string{"mlp"}, filepath.Join(small, "again.jsonl.gz"), "step-size=0.5")
	_, err = beyond.Tabulate(beyond.Known, dir, nil)
	if err == nil || !strings.Contains(err.Error(), "two entries of mlp") {
		t.Errorf("two entries of an agent: %v", err)
	}
}

// smallSets selects a small study.
var smallSets = []string{"actions=5", "features=3", "batch=4"}

// piece writes a file of a small study.
func piece(t *testing.T, x lab.Experiment, agents []string, path string, sets ...string) {
	t.Helper()
	sets = append(sets, smallSets...)
	if x.Name == beyond.QuadraticBandit.Name {
		sets = append(sets, "offered=5", "hidden=4", "index-samples=2", "sgd-steps=1")
	}
	spec := must.M1(x.Spec(agents, sets, lab.Size{Periods: 100, Runs: 2}, 3))
	o := lab.Options{Dir: t.TempDir(), Backend: backend.Go, BatchRuns: 2, Workers: 1}
	must.M1(lab.Run(t.Context(), spec, beyond.Known, o))
	must.M(os.MkdirAll(filepath.Dir(path), 0o755))
	h, rows := must.M2(analysis.Complete(o.Dir, beyond.Known))
	must.M(analysis.Write(path, h, rows, false))
}
