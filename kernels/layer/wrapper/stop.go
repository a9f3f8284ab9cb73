package wrapper

import (
	"errors"
	"os"
)

// StopVar is the environment variable with the path of the stop file.
const StopVar = "HYPERMODELS_STOP"

// StopFile returns a file that exists while the running cell has to end, because the cell was interrupted or a command
// in it has failed. The wrappers check it before they start a command.
func StopFile(dir string) string { return dir + "/stop" }

// SetStop creates the stop file.
func SetStop(file string) { os.WriteFile(file, nil, 0o600) }

func stopIsSet(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// ClearStop removes the stop file.
func ClearStop(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
