package cli

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"
)

// mixFlag is the flag --mix, which joins results of different code.
type mixFlag bool

func (f *mixFlag) add(flags *pflag.FlagSet) {
	flags.BoolVar((*bool)(f), "mix", false,
		"join results of different revisions, versions of GoMLX or plugins; the header names all of them")
}

// reporter returns a function that prints, once, why results differ in their code. Without --mix it returns nil.
func (f mixFlag) reporter() func(why error) {
	if !f {
		return nil
	}
	printed := false
	return func(why error) {
		if !printed {
			fmt.Fprintf(os.Stderr, "hyper: joined because of --mix: %v\n", why)
		}
		printed = true
	}
}
