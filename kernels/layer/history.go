package layer

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// history is what the client has executed in this session of the kernel.
type history struct {
	mu     sync.Mutex
	inputs []input
}

// input is an executed cell.
type input struct {
	count int
	code  string
}

// session is the number of the only session that a kernel knows.
const session = 1

func (h *history) add(count int, code string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inputs = append(h.inputs, input{count, code})
}

// line is a line of a cell, both counted from 1.
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

// find answers a request: of each input the session, the count, and the text, or text and output where output is
// wanted. A Go cell has no value, so its output is null.
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

// numbered are the inputs but for hidden code before the first cell, which is kept for messages about it.
func (h *history) numbered() []input {
	first := slices.IndexFunc(h.inputs, func(in input) bool { return in.count > 0 })
	if first < 0 {
		return nil
	}
	return h.inputs[first:]
}

// last are the last n inputs, or all.
func last(list []input, n *int) []input {
	if n == nil {
		return list
	}
	return list[max(0, len(list)-max(0, *n)):]
}

// between are the inputs from start up to, and without, stop. Sessions may also be counted from the present one, 0.
func (h *history) between(r historyRequest) []input {
	var found []input
	for _, in := range h.numbered() {
		if (r.Session == 0 || r.Session == session) && in.count >= r.Start && (r.Stop == nil || in.count < *r.Stop) {
			found = append(found, in)
		}
	}
	return found
}

// matching are the inputs that a pattern with * and ? fits; with unique, the last of each text.
func (h *history) matching(pattern string, unique bool) []input {
	if pattern == "" {
		pattern = "*"
	}
	fits := glob(pattern)
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

// glob is a pattern as a regular expression.
func glob(pattern string) *regexp.Regexp {
	text := regexp.QuoteMeta(pattern)
	text = strings.ReplaceAll(text, `\*`, ".*")
	text = strings.ReplaceAll(text, `\?`, ".")
	return regexp.MustCompile("(?s)^" + text + "$")
}
