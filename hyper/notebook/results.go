package notebook

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hypermodels/hypermodels/hyper/lab"
	"github.com/hypermodels/hypermodels/hyper/notebook/kept"
)

// Results reads the latest results of `%hyper run` under a name: the experiment's name, or the last element of --out.
// After an interruption it returns the results so far.
func Results(name string) (lab.Header, []lab.Row) {
	h, rows, err := results(name)
	if err != nil {
		panic(err)
	}
	return h, rows
}

func results(name string) (lab.Header, []lab.Row, error) {
	folder, err := kept.Of(".")
	if err != nil {
		return lab.Header{}, nil, err
	}
	_, file, ok := folder.Find(resultsName(name))
	if !ok {
		return lab.Header{}, nil, fmt.Errorf("no results under the name %q: `%%hyper run %[1]s` in a cell makes them, "+
			"`%%kept` lists all", name)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return lab.Header{}, nil, err
	}
	var dir string
	if err := json.Unmarshal(text, &dir); err != nil {
		return lab.Header{}, nil, fmt.Errorf("%s is damaged: %w", file, err)
	}
	h, rows, err := lab.ReadResults(dir, known)
	if err != nil {
		return h, nil, fmt.Errorf("the results under the name %q: %w", name, err)
	}
	return h, rows, nil
}

// NameResults stores the folder of results under a name, for [Results].
func NameResults(name, dir string) error {
	folder, err := kept.Of(".")
	if err != nil {
		return err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	text, err := json.Marshal(dir)
	if err != nil {
		return err
	}
	return folder.Put(kept.Entry{Name: resultsName(name), Type: "folder of results", Made: time.Now()},
		func(path string) error { return os.WriteFile(path, text, 0o600) })
}

// resultsName returns the name of results among kept values.
func resultsName(name string) string { return "results of " + name }
