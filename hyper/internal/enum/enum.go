// Package enum has what enumerations share: types of small integers whose values have words. 0 is a default, without
// one.
package enum

import "fmt"

// Value is a type of an enumeration.
type Value interface {
	~int
	fmt.Stringer
}

// Word is the word of a value x, of words for 1, 2 and so on: "" for 0, and "unknown" for others.
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

// All are the values that have words.
func All[T Value]() (all []T) {
	for x := T(1); x.String() != unknown; x++ {
		all = append(all, x)
	}
	return all
}
