// Package notebook has functions for the cells of Jupyter notebooks: experiments that show their progress, results,
// committed studies, tables, figures and exercises.
//
// A cell fails by a panic. Therefore these functions panic with an error if the cell should fail. In a
// cell's program they write to the output of the cell through GoNB, and in a command of a cell through the kernel.
// Outside a notebook they show nothing.
package notebook

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/must"
	gonum "gonum.org/v1/plot"

	"github.com/hypermodels/hypermodels/hyper/analysis"
	"github.com/hypermodels/hypermodels/hyper/internal/lines"
	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Choose returns full if notebooks should use their larger sizes, that is if Jupyter was started with
// HYPER_PROFILE=full, and otherwise quick.
func Choose[T any](quick, full T) T {
	if os.Getenv("HYPER_PROFILE") == "full" {
		return full
	}
	return quick
}

// Study reads and joins the files of a study, results/PATTERN.jsonl.gz next to the notebook; see [analysis.Read].
func Study(pattern string) (lab.Header, []lab.Row) {
	pieces := must.M1(filepath.Glob(filepath.Join("results", pattern+".jsonl.gz")))
	if len(pieces) == 0 {
		panic(fmt.Errorf("no study results/%s.jsonl.gz here; `hyper run` and `hyper export` make studies", pattern))
	}
	return must.M2(analysis.Read(Known, pieces...))
}

// FolderStudy is a study, with the folder of its files.
type FolderStudy struct {
	Folder string
	Header lab.Header
	Rows   []lab.Row
}

// String describes the study in one line.
func (h FolderStudy) String() string {
	return fmt.Sprintf("%s: %v; %d rows", h.Folder, h.Header, len(h.Rows))
}

// Studies reads all studies of a folder, results/FOLDER next to the notebook. The files directly in the folder are one
// study, and the files in each subfolder are another, because results of different code are not joined.
func Studies(folder string) (all []FolderStudy) {
	inner := must.M1(filepath.Glob(filepath.Join("results", folder, "*", "*.jsonl.gz")))
	folders := []string{filepath.Join("results", folder)}
	for _, piece := range inner {
		if dir := filepath.Dir(piece); !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	for _, dir := range folders {
		name := must.M1(filepath.Rel("results", dir))
		if pieces := must.M1(filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))); len(pieces) > 0 {
			h, rows := Study(filepath.Join(name, "*"))
			all = append(all, FolderStudy{name, h, rows})
		}
	}
	if len(all) == 0 {
		panic(fmt.Errorf("no study in results/%s; `hyper run` and `hyper export` make studies", folder))
	}
	return all
}

// Lines reads a file with one JSON object on each line, next to the notebook: results/NAME, or results/NAME.json if the
// name has no extension. Commands with --json write such files. If there is no such file, the result is nil.
func Lines[T any](name string) (all []T) {
	if filepath.Ext(name) == "" {
		name += ".json"
	}
	all, err := lines.Read[T](filepath.Join("results", name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return must.M1(all, err)
}

// Figure shows a plot with a size in centimetres. dpi is the resolution on the page in dots per inch; the image has
// twice as many pixels, for sharp screens. Where the image cannot be seen, [plot.Alt] describes it.
func Figure(p *gonum.Plot, widthCm, heightCm float64, dpi int) {
	must.M1(pictureOf(p, widthCm, heightCm, dpi)).show()
}

// Panels shows plots row by row as one figure, see [plot.Panels].
func Panels(columns int, widthCm, heightCm float64, dpi int, plots ...*gonum.Plot) {
	must.M1(panelsOf(columns, widthCm, heightCm, dpi, plots...)).show()
}

// arrived waits until GoNB has received all output. When the program of a cell ends, GoNB closes its end of the pipe,
// and loses what is still in it: on a busy machine, sometimes a table. arrived waits for a limited time, because a GoNB
// that does not answer must not block a cell.
var arrived = func() {
	done := make(chan struct{})
	go func() {
		gonbui.Sync()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
	}
}
