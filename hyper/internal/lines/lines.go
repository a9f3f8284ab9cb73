// Package lines reads files of JSON objects.
package lines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// Read reads a file of JSON objects, one a line: what a command's --json has printed.
func Read[T any](path string) (all []T, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var one T
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, fmt.Errorf("%s: line %d is none of a command's --json: %w", path, len(all)+1, err)
		}
		all = append(all, one)
	}
	return all, nil
}
