package backend

import (
	"reflect"

	"github.com/gomlx/compute"
)

// Memory is what a call of a compiled program takes, in bytes: its inputs, outputs and temporaries. XLA tells it of
// what it has compiled (PJRT's compiled memory statistics); 0 is for a backend that does not. go-xla v0.4.1 keeps it in
// an unexported field, which is read by reflection.
func Memory(program compute.Executable) (bytes int64) {
	stats := reflect.ValueOf(program)
	for _, name := range []string{"exec", "OnDeviceMemoryUsageStats"} {
		if stats = reflect.Indirect(stats); stats.Kind() != reflect.Struct {
			return 0
		}
		stats = stats.FieldByName(name)
	}
	if stats.Kind() != reflect.Struct {
		return 0
	}
	for _, name := range []string{"Inputs", "Outputs", "Temporary"} {
		if f := stats.FieldByName(name); f.CanInt() {
			bytes += f.Int()
		}
	}
	return bytes
}
