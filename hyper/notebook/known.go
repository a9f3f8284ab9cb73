package notebook

import (
	"maps"

	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// Known has the experiments of the paper and of later work, by name. Cells and the command run and read them.
var Known = func() map[string]lab.Experiment {
	all := maps.Clone(paper.Known)
	maps.Copy(all, beyond.Known)
	return all
}()
