// Package testprogram compiles the kernels command for tests, because a test binary does not contain it.
package testprogram

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// Build compiles the command like a user's `go run`, and returns its path. It skips the test under -short.
func Build(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the files that `kernels setup` installs")
	}
	path := filepath.Join(t.TempDir(), "kernels")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path,
		"github.com/hypermodels/hypermodels/kernels").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}
