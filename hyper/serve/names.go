package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/hypermodels/hypermodels/hyper/internal/saved"
)

// CheckNames reports a Spec whose names are not those of another, the one that a folder is of: numbers of the folder's
// log would mean other things.
func CheckNames(spec, of Spec) error {
	return errors.Join(
		differ("arms", Features{Names: spec.Arms}, Features{Names: of.Arms}),
		differ("context", spec.Context, of.Context),
		differ("action", spec.Action, of.Action))
}

func differ(what string, a, b Features) error {
	if slices.Equal(a.Names, b.Names) && a.Buckets == b.Buckets {
		return nil
	}
	return fmt.Errorf("%s must be as in the folder, %q and %d buckets, got %q and %d", what, b.Names, b.Buckets, a.Names,
		a.Buckets)
}

// specFile is where a server leaves its Spec, for CheckNames.
const specFile = "spec.json"

// SpecOf is the Spec of the agent that a folder is of.
func SpecOf(dir string) (Spec, error) { return ReadSpec(filepath.Join(dir, specFile)) }

// checkFolder compares a Spec with that of the folder, if there is one.
func checkFolder(dir string, spec Spec) error {
	last, err := SpecOf(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if err := CheckNames(spec, last); err != nil {
		return fmt.Errorf("%s is the folder of another configuration, which needs another: %w", dir, err)
	}
	return nil
}

// leave leaves a Spec in the folder.
func leave(dir string, spec Spec) error {
	text, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return err
	}
	return saved.WriteFile(filepath.Join(dir, specFile), append(text, '\n'))
}
