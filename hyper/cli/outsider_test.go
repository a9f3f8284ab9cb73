package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/stats"
)

// outsider builds a separate module of testdata/outsider in a folder, with the project's dependencies, and returns the
// path of the program.
func outsider(t *testing.T) string {
	t.Helper()
	dir, root := t.TempDir(), must.M1(filepath.Abs("../.."))
	own := must.M1(os.ReadFile(filepath.Join(root, "go.mod")))
	mod := regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(string(own), "module example.com/outsider")
	const path = "github.com/hypermodels/hypermodels"
	mod += fmt.Sprintf("\nrequire %s v0.0.0\nreplace %s => %s\n", path, path, root)
	must.M(os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644))
	must.M(os.WriteFile(filepath.Join(dir, "go.sum"), must.M1(os.ReadFile(filepath.Join(root, "go.sum"))), 0o644))
	for _, file := range must.M1(filepath.Glob("testdata/outsider/*.go")) {
		must.M(os.WriteFile(filepath.Join(dir, filepath.Base(file)), must.M1(os.ReadFile(file)), 0o644))
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-ldflags=-s -w", "-o", "outsider", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "outsider")
}

// A separate module that uses only exported names adds a belief, a loss, a policy, an optimizer and a world, and runs
// them by the code of this command, on two workers. Each of the four settings has a different regret, and none
// diverges. The results, and the other commands, name the entries.
func TestOutsidersModule(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a module")
	}
	t.Parallel()
	program, dir := outsider(t), t.TempDir()
	call := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), program, args...)
		var out, errors bytes.Buffer
		c.Dir, c.Stdout, c.Stderr = dir, &out, &errors
		if err := c.Run(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, errors.String())
		}
		return out.String()
	}
	lines := bufio.NewScanner(strings.NewReader(call("run", "seasons", "--agent", "tilted", "--policy", "boltzmann",
		"--set", "loss=log-cosh", "--set", "optimizer=signed", "--set", "optimizer-ignored=0.001", "--set", "belief-dim=2",
		"--set", "policy-temperature=0.05,0.5", "--set", "length=50,400", "--periods", "50", "--runs", "4", "--workers", "2",
		"--json", "--out", "results")))
	seen := map[stats.Float]bool{}
	for lines.Scan() {
		var s analysis.Summary
		must.M(json.Unmarshal(lines.Bytes(), &s))
		t.Logf("temperature %v, length %v: regret %v, computation %v", s.Settings["policy-temperature"], s.Settings["length"],
			*s.Cumulative, s.Computation)
		for key, want := range map[string]any{"belief": "tilted", "belief-dim": 2., "loss": "log-cosh", "policy": "boltzmann",
			"optimizer": "signed", "optimizer-ignored": 0.001} {
			if s.Settings[key] != want {
				t.Errorf("%s is %v, want %v", key, s.Settings[key], want)
			}
		}
		if s.Diverged != 0 || s.Runs != 4 || s.Computation <= 0 || seen[*s.Cumulative] {
			t.Errorf("%+v", s)
		}
		seen[*s.Cumulative] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d settings", len(seen))
	}
	list := call("list", "seasons", "parts")
	for _, want := range []string{"weights that depend on tanh z", "log cosh of the error", "a softmax of mean rewards",
		"steps by the signs", "seasons: Arms that come and go", "periods of a year"} {
		if !strings.Contains(list, want) {
			t.Errorf("hyper list has no line %q", want)
		}
	}
	if out := call("compare", "results"); !strings.Contains(out, "tilted") {
		t.Errorf("hyper compare prints\n%s", out)
	}
}
