package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

func plotCommand() *cobra.Command {
	var out, title string
	var options plot.Options
	var target float64
	c := &cobra.Command{
		Use:   "plot DIR...",
		Short: "Draw regret curves with 95% intervals from results, as PNG and SVG",
		Args:  cobra.MinimumNArgs(1),
	}
	flags := c.Flags()
	flags.StringVar(&out, "out", "", "path of the figures without extension (default: regret in the first DIR)")
	flags.StringVar(&title, "title", "", "title of the figure")
	flags.BoolVar(&options.Average, "average", false, "average regret per period on log axes, not cumulative regret")
	flags.BoolVar(&options.Quartiles, "quartiles", false, "median and quartiles over runs, not mean and 95% interval")
	flags.Float64Var(&target, "target", 0, "a horizontal line at this regret")
	c.RunE = func(_ *cobra.Command, dirs []string) error {
		if math.IsNaN(target) || math.IsInf(target, 0) {
			return fmt.Errorf("--target must be finite, got %v", target)
		}
		options.Title, options.Target = title, target
		if out == "" {
			out = filepath.Join(dirs[0], "regret")
		}
		return drawRegret(dirs, out, options)
	}
	return c
}

// drawRegret draws the curves of all folders in one figure.
func drawRegret(dirs []string, out string, options plot.Options) error {
	var curves []lab.Curve
	for _, dir := range dirs {
		h, rows, err := lab.ReadResults(dir, paper.Known)
		if err != nil {
			return err
		}
		curves = append(curves, lab.Curves(h, rows)...)
	}
	p, err := plot.Regret(curves, options)
	if err != nil {
		return err
	}
	if err := plot.Save(p, out); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "wrote %s.png and %s.svg\n", out, out)
	return nil
}
