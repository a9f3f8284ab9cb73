package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hypermodels/hypermodels/hyper/internal/nearest"
)

// flagError says in plain words what is wrong with a flag: of one that is not known which may have been meant, of a
// value that cannot be read what is wanted.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var value *pflag.InvalidValueError
	help := "; see " + c.CommandPath() + " --help"
	switch {
	case errors.As(err, &unknown):
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		return fmt.Errorf("%w%s%s", err, nearest.Hint("--"+unknown.GetSpecifiedName(), names), help)
	case errors.As(err, &value):
		f := value.GetFlag()
		if want, ok := wanted[f.Value.Type()]; ok {
			return fmt.Errorf("--%s=%s: want %s%s", f.Name, value.GetValue(), want, help)
		}
	}
	return fmt.Errorf("%w%s", err, help)
}

// wanted says in words what a flag takes, by its type.
var wanted = map[string]string{
	"int":      "a whole number",
	"uint64":   "a whole number that is not negative",
	"float64":  "a number",
	"duration": "a time such as 20s or 5m",
	"bool":     "true or false",
}

// unknown is an error where some words are not among the known ones of a kind, such as "agent".
func unknown(kind string, known []string, words ...string) error {
	for _, w := range words {
		if !slices.Contains(known, w) {
			return fmt.Errorf("unknown %s %q%s; the %ss are %s", kind, w, nearest.Hint(w, known), kind,
				strings.Join(known, ", "))
		}
	}
	return nil
}

// argument wants exactly the named arguments.
func argument(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		count := "one argument"
		if len(names) > 1 {
			count = "two arguments"
		}
		return fmt.Errorf("%s takes %s, %s, and got %d; see %[1]s --help", c.CommandPath(), count,
			strings.Join(names, " and "), len(args))
	}
}

// fixed is an error where one of some flags is given, which cannot be, for a reason such as "it was begun".
func fixed(c *cobra.Command, why string, flags ...string) error {
	for _, name := range flags {
		if c.Flags().Changed(name) {
			return fmt.Errorf(why, "--"+name)
		}
	}
	return nil
}
