// Package notebook is what cells of a Jupyter notebook need again and again: experiments that show how far they are,
// results that are kept, committed studies, tables and figures.
//
// A cell fails by a panic, so these functions panic with an error where a cell should fail. What they show goes to the
// output of the cell through GoNB; outside of a notebook they show nothing.
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

	"github.com/hypermodels/hypermodels/hyper/internal/lines"
	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/paper"
)

// Full tells whether notebooks are to take their larger sizes: whether Jupyter was started with HYPER_PROFILE=full.
func Full() bool { return os.Getenv("HYPER_PROFILE") == "full" }

// Choose returns a size for the profile: quick, or in the full profile full.
func Choose[T any](quick, full T) T {
	if Full() {
		return full
	}
	return quick
}

// Study reads and joins the pieces of a study, results/PATTERN.jsonl.gz beside the notebook; see [lab.ReadStudy].
func Study(pattern string) (lab.Header, []lab.Row) {
	pieces := must.M1(filepath.Glob(filepath.Join("results", pattern+".jsonl.gz")))
	if len(pieces) == 0 {
		panic(fmt.Errorf("no study here: no results/%s.jsonl.gz; `hyper run` and `hyper export` make them", pattern))
	}
	return must.M2(lab.ReadStudy(paper.Known, pieces...))
}

// Held is a study and the folder that holds its pieces.
type Held struct {
	Folder string
	Header lab.Header
	Rows   []lab.Row
}

// String says in a line which study it is: for a person to read.
func (h Held) String() string { return fmt.Sprintf("%s: %v; %d rows", h.Folder, h.Header, len(h.Rows)) }

// Studies reads all studies of a folder, results/FOLDER beside the notebook: the pieces in it are one study, and those
// in each folder within it another, as results that different code made are not joined.
func Studies(folder string) (all []Held) {
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
			all = append(all, Held{name, h, rows})
		}
	}
	if len(all) == 0 {
		panic(fmt.Errorf("no study in results/%s; `hyper run` and `hyper export` make them", folder))
	}
	return all
}

// Lines reads a file of JSON objects, one a line, results/NAME.json beside the notebook: what a command's --json has
// printed. There are none where there is no such file.
func Lines[T any](name string) (all []T) {
	all, err := lines.Read[T](filepath.Join("results", name+".json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return must.M1(all, err)
}

// Figure shows a plot in a size in centimetres, at a resolution in dots per inch that says how large it is on the page.
// It is drawn with twice as many, for sharp screens. [plot.Alt] stands for it where it cannot be seen.
func Figure(p *gonum.Plot, widthCm, heightCm float64, dpi int) {
	must.M1(pictureOf(p, widthCm, heightCm, dpi)).show()
}

// Panels shows plots side by side, row by row, as one figure of a size, see [plot.Panels].
func Panels(columns int, widthCm, heightCm float64, dpi int, plots ...*gonum.Plot) {
	must.M1(panelsOf(columns, widthCm, heightCm, dpi, plots...)).show()
}

// arrived waits until GoNB has what was shown. When a cell's program ends GoNB closes its end of the pipe, and what is
// still in it is lost: on a busy machine that was a table now and then.
// It waits no longer than a moment: a GoNB that does not answer must not hold up a cell.
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
