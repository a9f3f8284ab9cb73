package gopls

// Completions builds the content of a complete_reply: texts that replace the characters of a cell from start to end.
type Completions struct {
	Start, End int
	matches    []string
	types      []map[string]any
}

// Add adds a text of some kind, such as "function", with a description.
func (c *Completions) Add(text, kind, about string) {
	c.matches = append(c.matches, text)
	c.types = append(c.types, map[string]any{"text": text, "type": kind, "signature": about, "start": c.Start, "end": c.End})
}

// Reply returns the content.
func (c *Completions) Reply() map[string]any {
	matches, types := c.matches, c.types
	if matches == nil { // null in JSON
		matches, types = []string{}, []map[string]any{}
	}
	return map[string]any{"status": "ok", "matches": matches, "cursor_start": c.Start, "cursor_end": c.End,
		"metadata": map[string]any{"_jupyter_types_experimental": types}}
}

// kindNames names the kinds of suggestions for which JupyterLab has icons.
var kindNames = map[int]string{2: "method", 3: "function", 4: "constructor", 5: "field", 6: "variable", 7: "class",
	8: "interface", 9: "module", 10: "property", 13: "enum", 14: "keyword", 15: "snippet", 20: "enum", 21: "constant",
	22: "struct", 25: "type"}
