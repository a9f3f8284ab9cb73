package backend

import (
	"strings"

	"github.com/gomlx/compute"
)

// OnGPU reports whether a backend computes on a GPU, where a scatter adds in no fixed order.
func OnGPU(b compute.Backend) bool { return strings.Contains(b.Description(), "cuda_plugin") }

// OnXLACPU reports whether a backend is XLA on a CPU.
func OnXLACPU(b compute.Backend) bool { return strings.Contains(b.Description(), "cpu_plugin") }
