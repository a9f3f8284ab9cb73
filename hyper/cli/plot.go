package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/notebook"
	"github.com/hypermodels/hypermodels/hyper/plot"
)

func plotCommand() *cobra.Command {
	var out string
	var options plot.Options
	var mix mixFlag
	c := &cobra.Command{
		Use:   "plot DIR|FILE...",
		Short: "Draw regret curves with 95% intervals from results or study files, as PNG and SVG",
		Args:  arguments("DIR or FILE"),
	}
	flags := c.Flags()
	mix.add(flags)
	flags.StringVar(&out, "out", "",
		"path of the figures, which get the extensions .png and .svg (default: regret in the first DIR, or the first "+
			"FILE)")
	flags.StringVar(&options.Title, "title", "", "title of the figure")
	flags.BoolVar(&options.Average, "average", false,
		"draw average regret per period on log axes instead of cumulative regret")
	flags.BoolVar(&options.Quartiles, "quartiles", false,
		"draw median and quartiles over runs instead of mean and 95% interval")
	flags.Float64Var(&options.Target, "target", 0, "draw a horizontal line at this regret")
	c.RunE = func(c *cobra.Command, paths []string) error {
		if math.IsNaN(options.Target) || math.IsInf(options.Target, 0) {
			return fmt.Errorf("--target must be finite, got %v", options.Target)
		}
		if out == "" {
			out = figureOf(paths[0])
		}
		return drawRegret(notes(c), paths, out, options, mix)
	}
	return c
}

// figureOf returns the path of the figures of results: in their folder, or next to their file.
func figureOf(path string) string {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".jsonl")
	}
	return filepath.Join(path, "regret")
}

// otherFormats lists extensions of formats in which figures are not written.
var otherFormats = []string{".pdf", ".eps", ".ps", ".jpg", ".jpeg", ".gif", ".tif", ".tiff", ".webp"}

// saveFigure writes a figure as PNG and SVG to the path of a flag, with or without an extension, and returns the path
// without it. The error says in which folder figures cannot be written, or what is wrong with the path.
func saveFigure(p *gonum.Plot, path, flag string) (string, error) {
	if slices.Contains(otherFormats, strings.ToLower(filepath.Ext(path))) {
		return path, fmt.Errorf("--%s=%s: figures are written as PNG and SVG; leave %s out", flag, path, filepath.Ext(path))
	}
	path = strings.TrimSuffix(strings.TrimSuffix(path, ".png"), ".svg")
	if _, name := filepath.Split(path); name == "" || name == "." || name == ".." {
		return path, fmt.Errorf("--%s=%s has no name for the figures: give one, such as %s", flag, path,
			filepath.Join(path, "regret"))
	}
	err := plot.Save(p, path)
	if place, ok := errors.AsType[*fs.PathError](err); ok {
		err = fmt.Errorf("figures cannot be written in %s: %w; choose another path by --%s", filepath.Dir(path),
			place.Err, flag)
	}
	return path, err
}

// drawRegret draws the curves of all results in one figure, and prints its files to w.
func drawRegret(w io.Writer, paths []string, out string, options plot.Options, mix mixFlag) error {
	h, rows, notices, err := readSome(paths, mix)
	if err != nil {
		return err
	}
	curves := analysis.Curves(h, rows)
	p, err := plot.Regret(curves, options)
	if err != nil {
		return err
	}
	if out, err = saveFigure(p, out, "out"); err != nil {
		return err
	}
	if inCell() {
		notebook.Figure(p, 16, 9, 100)
	}
	fmt.Fprintf(w, "wrote %s.png and %s.svg\n", out, out)
	if slices.ContainsFunc(curves, func(c analysis.Curve) bool { return len(c.Periods) == 0 }) {
		if err := unfinished(paths); err != nil {
			notices = []string{err.Error()}
		}
	}
	printNotices(notices)
	return nil
}
