package strict

import (
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"
)

type target struct {
	Seed   uint64             `json:"seed"`
	Values map[string]float64 `json:"values"`
	Inner  []struct{ A int }  `json:"inner"`
	At     netip.Addr         `json:"at"`
}

// JSON accepts valid text, also with keys that differ in case, and with the same key in two objects.
func TestJSON(t *testing.T) {
	var v target
	err := JSON([]byte(` {"seed": 18446744073709551615, "values": {"age": 1, "Age": 2}, "inner": [{"a": 1}, {"a": 2}]} `), &v)
	if err != nil || v.Seed != 1<<64-1 || v.Values["age"] != 1 || v.Values["Age"] != 2 || v.Inner[1].A != 2 {
		t.Errorf("got value %v, error %v, want the value of the text", v, err)
	}
}

// Editors of some systems begin a file with a byte order mark.
func TestJSONByteOrderMark(t *testing.T) {
	v := new(target)
	if err := JSON([]byte("\ufeff{\"seed\": 1}"), v); err != nil || v.Seed != 1 {
		t.Error(v, err)
	}
}

// Keys of a struct that differ only in case are the same key.
func TestJSONFoldsCase(t *testing.T) {
	if err := JSON([]byte(`{"seed": 1, "Seed": 2}`), new(target)); err == nil ||
		!strings.Contains(err.Error(), `key "Seed" is there twice`) {
		t.Errorf("got error %v, want one about the second key", err)
	}
	v := new(target)
	if err := JSON([]byte(`{"Seed": 1}`), v); err != nil || v.Seed != 1 {
		t.Error(v, err)
	}
}

// JSON returns an error for everything that would be lost.
func TestJSONLosesNothing(t *testing.T) {
	long := strings.Repeat("long ", 50)
	for text, want := range map[string]string{
		`{"seed": 1, "sed": 2}`:             `unknown field "sed"; the keys there are seed, values, inner`,
		`{"inner": [{"a": 1}, {"b": 1}]}`:   `unknown field "inner[1].b"; the keys there are A`,
		`{"seed": 1, "seed": 2}`:            `key "seed" is there twice`,
		`{"values": {"a": 1, "a": 1}}`:      `key "values.a" is there twice`,
		`{"inner": [{"a": 1, "a": 2}]}`:     `key "inner[0].a" is there twice`,
		`{"seed": 1} {}`:                    "there is something after the JSON value",
		`{"seed": 1}]`:                      "there is something after the JSON value",
		`{"seed": -1}`:                      "seed must be a whole number of 0 or more, got -1",
		`{"seed": 1.5}`:                     "seed must be a whole number of 0 or more, got 1.5",
		`{"seed": 18446744073709551616}`:    "seed is too large a number, 18446744073709551616: value out of range",
		`{"values": {"\u0061":1,"a": 1}}`:   `key "values.a" is there twice`,
		`{"values": {"a": "x"}}`:            "values.a must be a number, got a string",
		`{"values": {"a": 1e999}}`:          "values.a is too large a number, 1e999: value out of range",
		`{"values": {"a": NaN}}`:            "byte 17, in values.a, is no JSON: invalid character 'N' at start of value",
		`{"values": []}`:                    "values must be an object, got an array",
		`{"inner": {}}`:                     "inner must be an array, got an object",
		`{"inner": [3]}`:                    "inner[0] must be an object, got a number",
		`{"inner": [{"a": true}]}`:          "inner[0].a must be a whole number, got true",
		`{"inner": [{"a": null}, {"a": 0}`:  "the JSON ends too early: unexpected EOF",
		`{"at": 600}`:                       "at must be a string, got a number",
		`[1]`:                               "the JSON value must be an object, got an array",
		"{\"values\": {\"\xff\": 1}}":       "is no JSON: invalid UTF-8",
		`{"values": {"` + long + `": "x"}}`: "values." + long[:40] + " must be a number, got a string",
	} {
		if err := JSON([]byte(text), new(target)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if err := JSON(nil, new(target)); !errors.Is(err, io.EOF) || err.Error() != "the text is empty" {
		t.Errorf("empty text: got error %v, want io.EOF in words", err)
	}
	if err := JSON([]byte(`{"seed": 1`), new(target)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("text that ends early: got error %v, want io.ErrUnexpectedEOF", err)
	}
}

// JSON accepts null for types that have it. WithoutNull refuses null at any depth.
func TestWithoutNull(t *testing.T) {
	for text, want := range map[string]string{
		`{"values": null}`:         "values must not be null: give a value, or leave it out",
		`{"values": {"a": null}}`:  "values.a must not be null: give a value, or leave it out",
		`{"inner": [{}, null]}`:    "inner[1] must not be null: give a value, or leave it out",
		`{"inner": [{"a": null}]}`: "inner[0].a must not be null: give a value, or leave it out",
		`null`:                     "the JSON value must not be null: give a value, or leave it out",
	} {
		if err := JSON([]byte(text), new(target)); err != nil {
			t.Errorf("%s: got error %v, want none", text, err)
		}
		if err := WithoutNull([]byte(text), new(target)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	v := new(target)
	if err := WithoutNull([]byte(`{"values": {"a": 2}}`), v); err != nil || v.Values["a"] != 2 {
		t.Error(v, err)
	}
}
