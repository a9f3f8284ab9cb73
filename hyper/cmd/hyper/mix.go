package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"
)

// mixFlag is --mix: results that different code made become one.
type mixFlag bool

func (f *mixFlag) add(flags *pflag.FlagSet) {
	flags.BoolVar((*bool)(f), "mix", false,
		"join results of different revisions, GoMLX or plugins; their header names all")
}

// hear returns what hears why results are not of one kind, and tells it once, or nil without --mix.
func (f mixFlag) hear() func(why error) {
	if !f {
		return nil
	}
	told := false
	return func(why error) {
		if !told {
			fmt.Fprintf(os.Stderr, "hyper: mixed, as --mix says: %v\n", why)
		}
		told = true
	}
}
