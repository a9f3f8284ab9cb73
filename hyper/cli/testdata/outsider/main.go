// Outsider is the command hyper of another module, with a belief, a loss, a policy, an optimizer and a world of its
// own:
//
//	outsider run seasons --agent tilted --policy boltzmann --set loss=log-cosh --set optimizer=signed
package main

import (
	"os"

	"github.com/hypermodels/hypermodels/hyper/bandit"
	"github.com/hypermodels/hypermodels/hyper/catalog"
	"github.com/hypermodels/hypermodels/hyper/cli"
)

func main() {
	catalog.AddBelief("tilted", "weights that depend on tanh z", Tilted{Dim: 3})
	catalog.AddLoss("log-cosh", "log cosh of the error, for rewards with outliers", LogCosh{})
	catalog.AddOptimizer("signed", "steps by the signs of the gradient", Signed{})
	catalog.AddPolicy("boltzmann", "a softmax of mean rewards", Boltzmann{Functions: 8, Temperature: 0.1})
	catalog.AddWorld("seasons", "Arms that come and go with the season", func() bandit.World { return NewSeasons() })
	os.Exit(cli.Run(os.Args[1:]))
}
