package base

import (
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
)

func onXLACPU(g *Graph) bool { return strings.Contains(g.Backend().Description(), "cpu_plugin") }
