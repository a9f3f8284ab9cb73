// Package testbackend runs tests on the backends of the machine.
package testbackend

import (
	"slices"
	"testing"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// NotOnGPU is why a test of batches is left out on a GPU.
const NotOnGPU = "on a GPU roundings depend on the size of a batch"

// Each runs f on Go's backend, on XLA's for CPUs where its plugin is found, and on $HYPER_BACKEND, if that is another,
// found or not: `HYPER_BACKEND=xla:cuda go test ./hyper/...` tests on a GPU, too.
func Each(t *testing.T, f func(t *testing.T, name string)) {
	names := []string{backend.Go, backend.XLACPU}
	if name := backend.Default(); !slices.Contains(names, name) {
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
