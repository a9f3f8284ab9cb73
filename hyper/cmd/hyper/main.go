// Command hyper runs the experiments of "Hypermodels for Exploration", continues interrupted runs, and draws and tests
// results. Its code is in package cli.
package main

import (
	"os"

	"github.com/hypermodels/hypermodels/hyper/cli"
)

func main() { os.Exit(cli.Run(os.Args[1:])) }
