package notebook

import (
	"maps"

	"github.com/hypermodels/hypermodels/hyper/beyond"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// known has the experiments of the paper and of later work by name: all experiments that cells can run and read.
var known = func() map[string]lab.Experiment {
	all := maps.Clone(paper.Known)
	maps.Copy(all, beyond.Known)
	return all
}()
