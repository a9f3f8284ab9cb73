// Package testprogram compiles the kernels command for tests, because a test binary does not contain it.
package testprogram

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Build compiles the command like a user's `go run`, once for all tests of a package, and returns its path. It skips
// the test under -short.
func Build(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the files that `kernels setup` installs")
	}
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// built compiles the command into the folder of the test's own program, which `go test` removes at the end.
var built = sync.OnceValues(func() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(self), "for-tests", "kernels")
	if out, err := exec.Command("go", "build", "-o", path,
		"github.com/hypermodels/hypermodels/kernels").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})
