// Package strict reads JSON that a person or another program wrote, and takes nothing that it would lose.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// JSON decodes one value. Errors are a field that the target lacks, a key that is there twice in an object, of which
// encoding/json would take the last, and anything after the value. A text without a value is io.EOF, one that is cut
// off io.ErrUnexpectedEOF.
func JSON(text []byte, target any) error {
	return decode(text, target, func(key string) string { return key })
}

// Fields is JSON for a target without maps of free keys: keys that differ in case alone are one key, as decoding takes
// them.
func Fields(text []byte, target any) error { return decode(text, target, strings.ToLower) }

func decode(text []byte, target any, name func(key string) string) error {
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
	return keysOnce(d, name)
}

// keysOnce reads a value, and reports a key that an object in it has twice.
func keysOnce(d *json.Decoder, nameOf func(key string) string) error {
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
			name := nameOf(key.(string))
			if seen[name] {
				return fmt.Errorf("key %q is there twice", name)
			}
			seen[name] = true
		}
		if err := keysOnce(d, nameOf); err != nil {
			return err
		}
	}
	_, err = d.Token() // the end
	return err
}
