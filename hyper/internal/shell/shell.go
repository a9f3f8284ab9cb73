// Package shell writes words of commands that a person copies into a shell.
package shell

import (
	"regexp"
	"strings"
)

// plain matches words that every shell takes as they are.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=-]+$`)

// Word returns a word for a command, in quotes if a shell would change it otherwise, such as a name with a space.
func Word(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
