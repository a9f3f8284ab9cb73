package backend

import (
	"reflect"

	"github.com/gomlx/compute"
)

// Memory returns the number of bytes that a call of a compiled program needs: its inputs, outputs and temporary values.
// XLA reports it for compiled programs (PJRT's compiled memory statistics); for other backends Memory returns 0. go-xla
// v0.4.1 keeps the statistics in an unexported field, which Memory reads by reflection.
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
