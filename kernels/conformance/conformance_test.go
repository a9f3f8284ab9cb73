// Package conformance tests the kernel from Jupyter's side, by Python programs. suite.py runs the suite of
// jupyter_kernel_test. cells.py and protocol.py test what the kernel promises beyond it. clients.py sends the messages
// of VS Code's Jupyter extension and of jupyter console. leftovers.py checks that no process or file of a kernel
// remains, however it ends.
package conformance

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hypermodels/hypermodels/kernels/internal/testprogram"
)

// python runs one of the programs with the packages that `kernels setup` installs, and returns its output.
func python(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testprogram.Build(t), append([]string{"python", "--"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s failed: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// The programs run side by side, because each waits for the Go command more than it computes.

func TestCells(t *testing.T) {
	t.Parallel()
	t.Log(python(t, "cells.py"))
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	t.Log(python(t, "protocol.py"))
}

func TestClients(t *testing.T) {
	t.Parallel()
	t.Log(python(t, "clients.py"))
}

func TestSuite(t *testing.T) {
	t.Parallel()
	t.Log(python(t, "suite.py"))
}

// TestNothingIsLeft ends six kernels, each in a different way. $HYPERMODELS_KILLS sets the number (50 for a full test).
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("processes are looked for in /proc")
	}
	number := os.Getenv("HYPERMODELS_KILLS")
	if number == "" {
		number = "6"
	}
	t.Log(python(t, "leftovers.py", number))
}
