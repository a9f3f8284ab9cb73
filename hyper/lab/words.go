package lab

import (
	"fmt"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/internal/enum"
	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// OfWord is the value of an enumeration that a word of a setting names, as train.FullData by full-data; 0 is none.
func OfWord[T enum.Value](word string) T {
	for _, v := range enum.All[T]() {
		if v.String() == word {
			return v
		}
	}
	return 0
}

// CheckWord reports a word that names no value of an enumeration.
func CheckWord[T enum.Value](key, word string) error {
	if OfWord[T](word) != 0 {
		return nil
	}
	var words []string
	for _, v := range enum.All[T]() {
		words = append(words, v.String())
	}
	return fmt.Errorf("%s: unknown %q%s; choose one of %s", key, word, nearest.Hint(word, words),
		strings.Join(words, ", "))
}
