package promoted

import (
	"fmt"
	"testing"
)

type named string

func (n named) String() string { return string(n) }

type own struct{ Name string }

func (own) String() string { return "own" }

// Methods of an embedded part are distinguished from methods of the type itself.
func TestBy(t *testing.T) {
	type part struct{ own }
	type pointer struct{ *own }
	type held struct{ Own own }
	for want, all := range map[bool][]any{
		true:  {part{}, &part{}, pointer{}, struct{ fmt.Stringer }{named("x")}},
		false: {named("x"), own{}, &own{}, held{}, 3},
	} {
		for _, v := range all {
			if Has[fmt.Stringer](v) != want {
				t.Errorf("By of %T: got %v", v, !want)
			}
		}
	}
}
