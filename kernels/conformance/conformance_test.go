// Package conformance tests the kernel as Jupyter meets it, by Python programs: jupyter_kernel_test's suite and more
// (suite.py), what VS Code's Jupyter extension and jupyter console send (clients.py), and that nothing is left of a
// kernel however it ends (leftovers.py).
package conformance

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hypermodels/hypermodels/kernels/internal/testprogram"
)

// python runs one of the programs with what `kernels setup` installs, and returns what it prints.
func python(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testprogram.Build(t), append([]string{"python", "--"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

func TestSuite(t *testing.T) { t.Log(python(t, "suite.py")) }

func TestClients(t *testing.T) { t.Log(python(t, "clients.py")) }

// TestNothingIsLeft ends six kernels, each in another way; $HYPERMODELS_KILLS says how many (50 for a full test).
func TestNothingIsLeft(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("processes are looked for in /proc")
	}
	number := os.Getenv("HYPERMODELS_KILLS")
	if number == "" {
		number = "6"
	}
	t.Log(python(t, "leftovers.py", number))
}
