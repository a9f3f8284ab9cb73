package backend_test

import (
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
	"github.com/hypermodels/hypermodels/hyper/internal/testbackend"
)

// A backend on a CPU has one device. With the CPU plugin's default of 4, programs would share at least 4 threads, and a
// period of a small network would take up to one and a half times as long on one processor.
func TestOneDevice(t *testing.T) {
	testbackend.ForEach(t, func(t *testing.T, name string) {
		if name == backend.XLACUDA {
			t.Skip("a machine may have several GPUs")
		}
		if n := must.M1(backend.Open(name)).NumDevices(); n != 1 {
			t.Errorf("%s has %d devices, want 1", name, n)
		}
	})
}
