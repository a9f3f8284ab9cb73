// Package cells names what notebook cells may import beside the root module's own packages. It holds the requirements
// of the module around it in place (go mod tidy would drop them) and is compiled once by setup, so that the first cell
// does not wait for it. Nothing imports it.
package cells

import (
	_ "github.com/janpfeifer/gonb/cache"
	_ "github.com/janpfeifer/gonb/gonbui"
	_ "github.com/janpfeifer/must"
	_ "gonum.org/v1/plot"
	_ "gonum.org/v1/plot/plotter"
	_ "gonum.org/v1/plot/vg"
	_ "gonum.org/v1/plot/vg/draw"
	_ "gonum.org/v1/plot/vg/vgimg"
)
