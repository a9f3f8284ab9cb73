package layer

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// history holds the cells that the client has executed in this session of the kernel. It is safe for concurrent use.
type history struct {
	mu     sync.Mutex
	inputs []input
}

// input is an executed cell.
type input struct {
	count int
	code  string
}

// session is the number of the kernel's only session.
const session = 1

func (h *history) add(count int, code string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inputs = append(h.inputs, input{count, code})
}

// line returns a line of a cell. Cells and lines are counted from 1.
func (h *history) line(cell, line int) (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, in := range slices.Backward(h.inputs) {
		if in.count != cell {
			continue
		}
		if lines := strings.Split(in.code, "\n"); line >= 1 && line <= len(lines) {
			return lines[line-1], true
		}
	}
	return "", false
}

// historyRequest is the content of a history_request.
type historyRequest struct {
	Output  bool   `json:"output"`
	Access  string `json:"hist_access_type"`
	Session int    `json:"session"`
	Start   int    `json:"start"`
	Stop    *int   `json:"stop"`
	N       *int   `json:"n"`
	Pattern string `json:"pattern"`
	Unique  bool   `json:"unique"`
}

// find answers a request. Each row has the session, the count, and the text of an input. If the request wants output,
// the text and the output are a pair. The output of a Go cell is null, because the cell has no value.
func (h *history) find(r historyRequest) [][]any {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []input
	switch r.Access {
	case "tail":
		found = last(h.numbered(), r.N)
	case "range":
		found = h.between(r)
	case "search":
		found = last(h.matching(r.Pattern, r.Unique), r.N)
	}
	rows := make([][]any, 0, len(found))
	for _, in := range found {
		var text any = in.code
		if r.Output {
			text = []any{in.code, nil}
		}
		rows = append(rows, []any{session, in.count, text})
	}
	return rows
}

// numbered returns the inputs except hidden code before the first cell. Messages about that code need it in the
// history.
func (h *history) numbered() []input {
	first := slices.IndexFunc(h.inputs, func(in input) bool { return in.count > 0 })
	if first < 0 {
		return nil
	}
	return h.inputs[first:]
}

// last returns the last n inputs, or all inputs if n is nil.
func last(list []input, n *int) []input {
	if n == nil {
		return list
	}
	return list[max(0, len(list)-max(0, *n)):]
}

// between returns the inputs from start up to, and without, stop. Session 0 means the present session.
func (h *history) between(r historyRequest) []input {
	var found []input
	for _, in := range h.numbered() {
		if (r.Session == 0 || r.Session == session) && in.count >= r.Start && (r.Stop == nil || in.count < *r.Stop) {
			found = append(found, in)
		}
	}
	return found
}

// matching returns the inputs that match a pattern with * and ?. With unique, it returns only the last input of each
// text.
func (h *history) matching(pattern string, unique bool) []input {
	fits := glob(cmp.Or(pattern, "*"))
	seen := map[string]bool{}
	var found []input
	for _, in := range slices.Backward(h.numbered()) {
		if fits.MatchString(in.code) && !(unique && seen[in.code]) {
			seen[in.code] = true
			found = append(found, in)
		}
	}
	slices.Reverse(found)
	return found
}

// glob returns a pattern as a regular expression.
func glob(pattern string) *regexp.Regexp {
	text := regexp.QuoteMeta(pattern)
	text = strings.ReplaceAll(text, `\*`, ".*")
	text = strings.ReplaceAll(text, `\?`, ".")
	return regexp.MustCompile("(?s)^" + text + "$")
}
