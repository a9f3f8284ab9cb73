package layer

import (
	"reflect"
	"slices"
	"testing"
)

func TestHistory(t *testing.T) {
	var h history
	for i, code := range []string{"a := 1", "b", "a := 2", "b"} {
		h.add(i+1, code)
	}
	n := func(i int) *int { return &i }
	for _, c := range []struct {
		request historyRequest
		want    []int
	}{
		{historyRequest{Access: "tail", N: n(2)}, []int{3, 4}},
		{historyRequest{Access: "tail", N: n(9)}, []int{1, 2, 3, 4}},
		{historyRequest{Access: "tail"}, []int{1, 2, 3, 4}},
		{historyRequest{Access: "range", Session: 1, Start: 2, Stop: n(4)}, []int{2, 3}},
		{historyRequest{Access: "range", Start: 2}, []int{2, 3, 4}},
		{historyRequest{Access: "range", Session: 7, Start: 1}, nil},
		{historyRequest{Access: "search", Pattern: "a*"}, []int{1, 3}},
		{historyRequest{Access: "search", Pattern: "?"}, []int{2, 4}},
		{historyRequest{Access: "search", Pattern: "b", Unique: true}, []int{4}},
		{historyRequest{Access: "search", Pattern: "*", N: n(1)}, []int{4}},
		{historyRequest{Access: "search", Pattern: "a.*"}, nil},
	} {
		var got []int
		for _, row := range h.find(c.request) {
			got = append(got, row[1].(int))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: cells %v, want %v", c.request, got, c.want)
		}
	}
	row := h.find(historyRequest{Access: "tail", N: n(1), Output: true})[0]
	if want := []any{session, 4, []any{"b", nil}}; !reflect.DeepEqual(row, want) {
		t.Errorf("with output: %v, want %v", row, want)
	}
	if text, ok := h.line(3, 1); !ok || text != "a := 2" {
		t.Errorf("line 1 of cell 3: got %q, want a := 2", text)
	}
}
