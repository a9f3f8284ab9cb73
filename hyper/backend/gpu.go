package backend

import (
	"strings"

	"github.com/gomlx/compute"
)

// OnGPU tells whether a backend computes on a GPU, which adds up in a scatter in no fixed order.
func OnGPU(b compute.Backend) bool { return strings.Contains(b.Description(), "cuda_plugin") }
