package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/kernels/layer"
	"github.com/hypermodels/hypermodels/kernels/layer/build"
	"github.com/hypermodels/hypermodels/kernels/layer/wrapper"
)

const layerVerb = "layer"

// layerCommand returns the command of the kernel itself, which runs under a guard of the launcher.
func layerCommand() *cobra.Command {
	var c layer.Config
	cmd := &cobra.Command{
		Use:    layerVerb + " --connection FILE --dir FOLDER -- GONB [ARGUMENT...]",
		Short:  "Connect Jupyter and GoNB (started by kernel)",
		Hidden: true,
		Args:   bad(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, argv []string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			start, err := os.Getwd()
			if err != nil {
				return err
			}
			c.Program, c.Start, c.Engine, c.Env = self, start, argv, os.Environ()
			defer os.RemoveAll(c.Dir) // The guard does the same if it is alive.
			ctx, cancel := withMaster(cmd.Context(), true)
			defer cancel()
			if err := layer.Serve(ctx, c); err != nil {
				return explain(ctx, c.Connection, err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&c.Connection, "connection", "", "Jupyter's connection file")
	cmd.Flags().StringVar(&c.Dir, "dir", "", "a folder for temporary files")
	return cmd
}

// wrapperCommands returns the commands that GoNB starts for a cell: see packages build and wrapper.
func wrapperCommands() []*cobra.Command {
	var list []*cobra.Command
	for verb, run := range map[string]func([]string) int{
		wrapper.CellVerb: wrapper.RunCell, wrapper.ShellVerb: wrapper.RunShell, wrapper.ScriptVerb: wrapper.RunScript,
		build.Verb: build.Run, build.ImportsVerb: build.RunImports,
	} {
		list = append(list, &cobra.Command{
			Use:                verb,
			Short:              "Build or run a program of a cell (started by GoNB)",
			Hidden:             true,
			DisableFlagParsing: true,
			RunE:               func(_ *cobra.Command, argv []string) error { return exited(run(argv), nil) },
		})
	}
	return list
}
