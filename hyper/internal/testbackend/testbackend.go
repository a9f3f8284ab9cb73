// Package testbackend runs tests on the backends of the machine.
package testbackend

import (
	"testing"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// Each runs f on Go's backend, and on XLA's for CPUs where its plugin is found.
func Each(t *testing.T, f func(t *testing.T, name string)) {
	for _, name := range []string{backend.Go, backend.XLACPU} {
		t.Run(name, func(t *testing.T) {
			if backend.Check(name) != nil {
				t.Skip("no XLA plugin; `go run ./kernels setup` installs it")
			}
			f(t, name)
		})
	}
}
