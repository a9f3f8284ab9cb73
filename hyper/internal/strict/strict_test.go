package strict

import (
	"errors"
	"io"
	"strings"
	"testing"
)

type target struct {
	Seed   uint64             `json:"seed"`
	Values map[string]float64 `json:"values"`
	Inner  []struct{ A int }  `json:"inner"`
}

// What is whole is taken, also keys that differ in case and keys of one name in two objects.
func TestJSON(t *testing.T) {
	var v target
	err := JSON([]byte(` {"seed": 18446744073709551615, "values": {"age": 1, "Age": 2}, "inner": [{"a": 1}, {"a": 2}]} `), &v)
	if err != nil || v.Seed != 1<<64-1 || v.Values["age"] != 1 || v.Values["Age"] != 2 || v.Inner[1].A != 2 {
		t.Errorf("%v, %v", v, err)
	}
}

// Fields takes no two keys that differ in case alone.
func TestFields(t *testing.T) {
	if err := Fields([]byte(`{"seed": 1, "Seed": 2}`), new(target)); err == nil ||
		!strings.Contains(err.Error(), `key "seed" is there twice`) {
		t.Errorf("%v", err)
	}
	if err := Fields([]byte(`{"seed": 1}`), new(target)); err != nil {
		t.Error(err)
	}
}

// What would be lost is an error.
func TestJSONLosesNothing(t *testing.T) {
	for text, want := range map[string]string{
		`{"seed": 1, "sed": 2}`:           `unknown field "sed"`,
		`{"seed": 1, "seed": 2}`:          `key "seed" is there twice`,
		`{"values": {"a": 1, "a": 1}}`:    `key "a" is there twice`,
		`{"inner": [{"a": 1, "a": 2}]}`:   `key "a" is there twice`,
		`{"seed": 1} {}`:                  "something after",
		`{"seed": 1}]`:                    "something after",
		`{"seed": -1}`:                    "seed",
		`{"values": {"\u0061":1,"a": 1}}`: `key "a" is there twice`,
	} {
		if err := JSON([]byte(text), new(target)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if err := JSON(nil, new(target)); !errors.Is(err, io.EOF) {
		t.Errorf("nothing: %v", err)
	}
	if err := JSON([]byte(`{"seed": 1`), new(target)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut off: %v", err)
	}
}
