// Package lines reads files with one record on each line.
package lines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// Read reads a file with one JSON object on each line, as a command prints with --json.
func Read[T any](path string) (all []T, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var one T
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, fmt.Errorf("%s: line %d was not printed by a command with --json: %w", path, len(all)+1, err)
		}
		all = append(all, one)
	}
	return all, nil
}
