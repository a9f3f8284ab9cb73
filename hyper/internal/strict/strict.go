// Package strict reads JSON that a person or another program wrote. It refuses JSON from which it would lose something.
package strict

import (
	"bytes"
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// options make the decoder read as encoding/json does, but refuse what encoding/json would lose.
var options = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false),
	json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(false), jsontext.AllowInvalidUTF8(false))

// JSON decodes one value. It returns an error for a field that the target does not have, a duplicate key in an object,
// a value of the wrong type, text that is not UTF-8, and anything after the value. A byte order mark may come before the
// value. The error names the place, such as actions[2].id. With errors.Is, the error is strconv.ErrRange for a number
// that the target cannot hold, io.EOF for a text without a value, and io.ErrUnexpectedEOF for a text that is cut off.
// Keys of a struct that differ only in case are the same key.
func JSON(text []byte, target any) error { return read(text, target) }

// WithoutNull does what JSON does, and refuses null at any depth.
func WithoutNull(text []byte, target any) error {
	return read(text, target, json.WithUnmarshalers(refuseNull))
}

func read(text []byte, target any, more ...json.Options) error {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		return errEmpty{}
	}
	return inWords(json.Unmarshal(text, target, options, json.JoinOptions(more...)))
}

// errEmpty reports a text without a value.
type errEmpty struct{}

func (errEmpty) Error() string { return "the text is empty" }
func (errEmpty) Unwrap() error { return io.EOF }

var errNull = errors.New("must not be null: give a value, or leave it out")

var refuseNull = json.UnmarshalFromFunc(func(d *jsontext.Decoder, _ any) error {
	if d.PeekKind() == jsontext.KindNull {
		return errNull
	}
	return errors.ErrUnsupported // not decoded by this function: the next one reads the value
})

// inWords converts an error of the decoder to an error that says, in the words of JSON, what is wrong and where.
func inWords(err error) error {
	var syntax *jsontext.SyntacticError
	var value *json.SemanticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the JSON ends too early: %w", io.ErrUnexpectedEOF)
	case errors.As(err, &syntax):
		return ofSyntax(syntax)
	case errors.As(err, &value):
		return ofValue(value)
	}
	return err
}

func ofSyntax(e *jsontext.SyntacticError) error {
	switch {
	case errors.Is(e, jsontext.ErrDuplicateName):
		return fmt.Errorf("key %q is there twice", place(e.JSONPointer))
	case e.JSONPointer == "" && strings.HasSuffix(e.Err.Error(), "after top-level value"):
		return errors.New("there is something after the JSON value")
	}
	return fmt.Errorf("byte %d, in %s, is no JSON: %w", e.ByteOffset, place(e.JSONPointer), e.Err)
}

func ofValue(e *json.SemanticError) error {
	at := place(e.JSONPointer)
	switch {
	case errors.Is(e.Err, json.ErrUnknownName):
		return fmt.Errorf("unknown field %q%s", at, known(e.GoType))
	case errors.Is(e.Err, errNull):
		return fmt.Errorf("%s %w", at, errNull)
	case errors.Is(e.Err, strconv.ErrRange):
		return fmt.Errorf("%s is too large a number, %.40s: %w", at, e.JSONValue, strconv.ErrRange)
	case e.Err != nil && !errors.Is(e.Err, strconv.ErrSyntax) && !(isText(e.GoType) && e.JSONKind != jsontext.KindString):
		return fmt.Errorf("%s: %w", at, e.Err)
	}
	return fmt.Errorf("%s must be %s, got %s", at, nameOf(e.GoType), got(e))
}

// known lists the keys of a struct, to follow an unknown key in an error.
func known(t reflect.Type) string {
	if t == nil || t.Kind() != reflect.Struct {
		return ""
	}
	var keys []string
	for _, f := range reflect.VisibleFields(t) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && !f.Anonymous && key != "-" {
			keys = append(keys, cmp.Or(key, f.Name))
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return "; the keys there are " + strings.Join(keys, ", ")
}

// place returns a JSON pointer in the notation of JavaScript, such as actions[2].id.
func place(p jsontext.Pointer) string {
	var out strings.Builder
	for token := range p.Tokens() {
		switch _, err := strconv.ParseUint(token, 10, 64); {
		case err == nil:
			fmt.Fprintf(&out, "[%s]", token)
		case out.Len() > 0:
			fmt.Fprintf(&out, ".%.40s", token)
		default:
			fmt.Fprintf(&out, "%.40s", token)
		}
	}
	if out.Len() == 0 {
		return "the JSON value"
	}
	return fmt.Sprintf("%.200s", out.String())
}

// isText reports whether values of a Go type are strings in JSON, because the type reads a text.
func isText(t reflect.Type) bool {
	return t != nil && reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// nameOf returns the JSON name for the values of a Go type.
func nameOf(t reflect.Type) string {
	if isText(t) {
		return "a string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nameOf(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number of 0 or more"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	}
	return "an object"
}

// got describes the JSON value that was found: a number itself, or the kind of another value.
func got(e *json.SemanticError) string {
	switch e.JSONKind {
	case jsontext.KindNumber:
		if len(e.JSONValue) > 0 {
			return fmt.Sprintf("%.40s", e.JSONValue)
		}
		return "a number"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindBeginArray:
		return "an array"
	case jsontext.KindBeginObject:
		return "an object"
	}
	return e.JSONKind.String() // null, true or false
}
