package lab_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// inBlocks is the main function of a process that runs a Spec in blocks of periods, as on a GPU, and prints its rows.
// With the argument "both", it also runs the Spec in single periods, and prints those rows too.
func inBlocks() {
	s := must.M1(lab.ParseSpec([]byte(os.Args[2]), paper.Known))
	all := [][]lab.Row{nil, nil}
	simulate := func() []lab.Row {
		_, rows := must.M2(lab.Simulate(context.Background(), s, paper.Known,
			lab.Options{Backend: backend.XLACPU, Workers: 1}))
		return rows
	}
	if os.Args[3] == "both" {
		all[1] = simulate()
	}
	lab.SetBlocks(8, 1)
	all[0] = simulate()
	must.M(json.NewEncoder(os.Stdout).Encode(all))
}

// blocksOfRows runs a Spec with inBlocks, and returns the rows and the optimized HLO of the program that advances in
// blocks.
func blocksOfRows(t *testing.T, s lab.Spec, how string) (rows [2][]lab.Row, hlo string) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(must.M1(os.Executable()), "blocks", string(must.M1(json.Marshal(s))), how)
	cmd.Env = append(os.Environ(), "HYPER_COMPILE_CACHE=off", "XLA_FLAGS=--xla_backend_optimization_level=0 "+
		"--xla_dump_to="+dir+" --xla_dump_hlo_as_text")
	cmd.Stderr = os.Stderr
	must.M(json.Unmarshal(must.M1(cmd.Output()), &rows))
	for _, path := range must.M1(filepath.Glob(filepath.Join(dir, "*cpu_after_optimizations.txt"))) {
		if text := string(must.M1(os.ReadFile(path))); len(text) > len(hlo) {
			hlo = text // the program that advances is the largest
		}
	}
	return rows, hlo
}

// XLA knows the number of rounds of every loop in a program for a GPU, except of the two loops over blocks of periods:
// with an unknown number, a GPU waits for the host before each round. Blocks give the same bits as single periods.
func TestNumbersOfRoundsAreKnown(t *testing.T) {
	if backend.Check(backend.XLACPU) != nil {
		t.Skip("no XLA plugin; `go run ./kernels setup` installs it")
	}
	if testing.Short() {
		t.Skip("compiles large programs")
	}
	loops := regexp.MustCompile(`(?m)^.* while\(.*$`)
	for _, c := range []struct {
		agent, how string
		sets       []string
		inner      int // number of loops in a period
	}{
		{"neural/linear", "blocks alone", []string{"actions=20", "batch=16", "sgd-steps=8", "optimizer=sgd", "step-size=0.003"}, 1},
		{"ids/ids", "both", []string{"size=20", "policy-samples=50"}, 2},
	} {
		rows, hlo := blocksOfRows(t, spec(t, c.agent, lab.Size{Periods: 20, Runs: 2}, c.sets...), c.how)
		if c.how == "both" && (len(rows[0]) == 0 || !maps.Equal(byRun(rows[0]), byRun(rows[1]))) {
			t.Errorf("%s: other rows in blocks than in single periods", c.agent)
		}
		known, unknown := 0, 0
		for _, line := range loops.FindAllString(hlo, -1) {
			if strings.Contains(line, "known_trip_count") {
				known++
			} else {
				unknown++
			}
		}
		if unknown != 2 || known != 2*c.inner+1 {
			t.Errorf("%s: %d loops with a known number of rounds and %d without, want %d and 2", c.agent, known, unknown,
				2*c.inner+1)
		}
	}
}
