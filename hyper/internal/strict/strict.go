// Package strict reads JSON that a person or another program wrote, and takes nothing that it would lose.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// JSON decodes one value. Errors are a field that the target lacks, a key that is there twice in an object, of which
// encoding/json would take the last, and anything after the value. A text without a value is io.EOF, one that is cut
// off io.ErrUnexpectedEOF.
func JSON(text []byte, target any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(target); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is something after the JSON value")
	}
	d = json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // not to parse them again
	return keysOnce(d)
}

// keysOnce reads a value, and reports a key that an object in it has twice.
func keysOnce(d *json.Decoder) error {
	begin, err := d.Token()
	if _, inside := begin.(json.Delim); err != nil || !inside {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		if begin == json.Delim('{') {
			key, err := d.Token()
			if err != nil {
				return err
			}
			name := key.(string)
			if seen[name] {
				return fmt.Errorf("key %q is there twice", name)
			}
			seen[name] = true
		}
		if err := keysOnce(d); err != nil {
			return err
		}
	}
	_, err = d.Token() // the end
	return err
}
