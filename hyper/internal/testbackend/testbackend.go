// Package testbackend runs tests on the backends of the machine.
package testbackend

import (
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// NotOnGPU is the reason for skipping a test of batches on a GPU.
const NotOnGPU = "on a GPU roundings depend on the size of a batch"

// ForEach runs f on the Go backend, on the XLA backend for CPUs if its plugin is found (with -short only on the Go
// backend), and on the backend $HYPER_BACKEND if that is a different one, whether or not its plugin is found.
// `HYPER_BACKEND=xla:cuda go test ./hyper/...` therefore also tests on a GPU.
func ForEach(t *testing.T, f func(t *testing.T, name string)) {
	names := []string{backend.Go}
	if !testing.Short() {
		names = append(names, backend.XLACPU)
	}
	if name := os.Getenv("HYPER_BACKEND"); name != "" && !slices.Contains(names, name) {
		names = append(names, name)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			if name == backend.XLACPU && backend.Check(name) != nil {
				t.Skip("no XLA plugin; `go run ./kernels setup` installs it")
			}
			f(t, name)
		})
	}
}

// Graphs and rows are garbage soon, and few things stay: with fewer collections tests take a tenth less time.
func init() {
	if !measures() {
		debug.SetGCPercent(400)
	}
}

// measures reports whether this process measures times: it has the flag -bench, or a flag -study.
func measures() bool {
	return slices.ContainsFunc(os.Args[1:], func(arg string) bool {
		arg = strings.TrimLeft(arg, "-")
		return strings.HasPrefix(arg, "test.bench=") || strings.HasPrefix(arg, "study.")
	})
}

// CompileQuickly makes XLA compile programs without LLVM's optimizations, unless $XLA_FLAGS is set. Compiling then takes
// a third less time. Programs have the same operations, but run slower and round differently, so a package that tests
// for equal bits in batches of different sizes must not call this function. XLA reads the flags once: call it in init.
// CompileQuickly does nothing in a process that measures times.
func CompileQuickly() {
	if os.Getenv("XLA_FLAGS") == "" && !measures() {
		os.Setenv("XLA_FLAGS", "--xla_backend_optimization_level=0")
	}
}
