package enum

import (
	"fmt"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// Of returns the value of an enumeration that a word names, as full-data names train.FullData. It returns 0 if no
// value has this name.
func Of[T Value](word string) T {
	for _, v := range All[T]() {
		if v.String() == word {
			return v
		}
	}
	return 0
}

// Check returns an error if a word names no value of an enumeration. key is the name of the setting.
func Check[T Value](key, word string) error {
	if Of[T](word) != 0 {
		return nil
	}
	var words []string
	for _, v := range All[T]() {
		words = append(words, v.String())
	}
	return fmt.Errorf("%s: unknown %q%s; choose one of %s", key, word, nearest.Hint(word, words),
		strings.Join(words, ", "))
}
