// Package enum implements enumerations: types of small integers whose values have words. The value 0 means a default,
// and has no word.
package enum

import "fmt"

// Value is the type of an enumeration.
type Value interface {
	~int
	fmt.Stringer
}

// Word returns the word of the value x. words are the words of 1, 2 and so on. Word returns "" for 0, and "unknown" for
// every other value.
func Word[T ~int](x T, words ...string) string {
	switch {
	case x == 0:
		return ""
	case x < 0 || int(x) > len(words):
		return unknown
	}
	return words[x-1]
}

const unknown = "unknown"

// All returns the values that have words.
func All[T Value]() (all []T) {
	for x := T(1); x.String() != unknown; x++ {
		all = append(all, x)
	}
	return all
}
