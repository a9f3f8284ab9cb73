package layer

import (
	"errors"
	"os"
)

// stopVar is the environment variable with the path of the stop file.
const stopVar = "HYPERMODELS_STOP"

// stopFile returns a file that exists while the running cell has to end, because the cell was interrupted or a command
// in it has failed. The wrappers check it before they start a command.
func stopFile(dir string) string { return dir + "/stop" }

// raise creates the stop file.
func raise(file string) { os.WriteFile(file, nil, 0o600) }

func raised(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func lower(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
