package notebook

import (
	"maps"

	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// Known has all experiments by name, those of the paper and those of later work. Cells and the command run and read
// them.
var Known = func() map[string]lab.Experiment {
	all := maps.Clone(paper.Known)
	maps.Copy(all, beyond.Known)
	return all
}()
