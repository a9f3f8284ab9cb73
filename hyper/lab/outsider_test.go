package lab_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// outsider makes a separate module of testdata/outsider in a folder, with the project's dependencies.
func outsider(t *testing.T, dir string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mod := regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(string(own), "module example.com/outsider")
	const path = "github.com/hypermodels/hypermodels"
	mod += fmt.Sprintf("\nrequire %s v0.0.0\nreplace %s => %s\n", path, path, root)
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"go.mod": []byte(mod), "go.sum": sum}
	for _, name := range []string{"main.go", "belief.go", "world.go", "policy.go"} {
		if files[name], err = os.ReadFile(filepath.Join("testdata", "outsider", name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A separate module that uses only exported names adds a belief, a world and a policy, and sweeps them with two
// workers. Each of the four settings has a different regret, and none diverges.
func TestOutsidersModule(t *testing.T) {
	dir := t.TempDir()
	outsider(t, dir)
	build := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-o", "outsider", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program := exec.CommandContext(t.Context(), filepath.Join(dir, "outsider"), filepath.Join(dir, "results"))
	out, err := program.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	seen := map[string]bool{}
	for _, line := range lines {
		_, regret, ok := strings.Cut(line, ": ")
		if !ok || !strings.HasSuffix(regret, ", 0 of 4 runs diverged") || seen[regret] {
			t.Errorf("%q", line)
		}
		seen[regret] = true
	}
	if len(lines) != 4 {
		t.Errorf("%d settings: %s", len(lines), out)
	}
	t.Logf("%s", out)
}
