package notebook

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hypermodels/hypermodels/hyper/lab"
)

// Results reads results of `%hyper run`. name is the folder that --out named, or the name of an experiment: then the
// latest of its folders in hyper-out counts. After an interruption it returns the results so far.
func Results(name string) (lab.Header, []lab.Row) {
	h, rows, err := results(name)
	if err != nil {
		panic(err)
	}
	return h, rows
}

func results(name string) (lab.Header, []lab.Row, error) {
	dir := name
	if _, err := os.Stat(dir); err != nil {
		// The names of the folders end with their dates, so the last one in alphabetical order is the latest.
		found, _ := filepath.Glob(filepath.Join("hyper-out", name+"-2*", lab.ResultsFile))
		if len(found) == 0 {
			return lab.Header{}, nil, fmt.Errorf("no results under the name %q: there is neither such a folder nor a "+
				"folder hyper-out/%[1]s-DATE; `%%hyper run %[1]s` in a cell makes one", name)
		}
		dir = filepath.Dir(found[len(found)-1])
	}
	h, rows, err := lab.ReadResults(dir, Known)
	if err != nil {
		return h, nil, fmt.Errorf("the results in %s: %w", dir, err)
	}
	return h, rows, nil
}
