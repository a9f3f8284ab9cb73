package layer

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/hypermodels/hypermodels/kernels/layer/cells"
	"github.com/hypermodels/hypermodels/kernels/layer/gopls"
)

// ask answers a request for completion or inspection.
func (k *kernel) ask(ctx context.Context, m message) {
	var in struct {
		Code   *string `json:"code"`
		Cursor *int    `json:"cursor_pos"`
	}
	if m.read(&in) != nil || in.Code == nil || in.Cursor == nil {
		k.reply(k.front.shell, m, malformed())
		return
	}
	answer, err := k.help(ctx, m.head.Type, *in.Code, *in.Cursor)
	if err != nil {
		answer = failed(newFault("KernelError", err.Error()))
	}
	k.reply(k.front.shell, m, answer)
}

// help completes or inspects code. gopls answers for Go, the layer for the name of a magic, and the hyper command for a
// %hyper line. On other lines the answer is empty.
func (k *kernel) help(ctx context.Context, kind, code string, cursor int) (map[string]any, error) {
	// JupyterLab asks about the position after its suggestion, and counts the suggestion twice.
	cursor = max(0, min(cursor, len([]rune(code))))
	if word, first, ok := magicAt(code, cursor); ok && kind == "complete_request" {
		return completeMagic(word, first, cursor), nil
	}
	words, ok := commandLine(code, cursor)
	ok = ok && kind == "complete_request"
	if !ok && !gopls.IsGo(code, cursor) {
		return map[string]any{"status": "ok", "found": false, "data": map[string]any{}, "metadata": map[string]any{},
			"matches": []string{}, "cursor_start": cursor, "cursor_end": cursor}, nil
	}
	e, err := k.ensureEngine(ctx)
	switch {
	case err != nil:
		return nil, err
	case !gopls.IsGo(code, cursor):
		return k.completeCommand(ctx, e, words, cursor), nil
	case kind == "inspect_request":
		return e.gopls.Inspect(e.ctx, code, cursor)
	}
	return e.gopls.Complete(e.ctx, code, cursor)
}

// magicAt returns the part of a magic's name before the cursor, and whether it is on the cell's first line. The cursor
// counts characters. ok is false if the cursor is not in a magic's name.
func magicAt(code string, cursor int) (word string, first, ok bool) {
	text := []rune(code)
	before := string(text[:max(0, min(cursor, len(text)))])
	start := strings.LastIndex(before, "\n") + 1
	word, first = cells.Uncommented(before[start:]), start == 0
	if !strings.HasPrefix(word, "%") || strings.ContainsAny(word, " \t") {
		return "", false, false
	}
	return word, first, first || cells.IsGo(code)
}

// completeMagic returns the content of a complete_reply for a magic's name. Cell magics are possible on the first line
// only.
func completeMagic(word string, first bool, cursor int) map[string]any {
	names := cells.LineMagics
	if first {
		names = append(cells.CellMagics[:len(cells.CellMagics):len(cells.CellMagics)], names...)
	}
	c := gopls.Completions{Start: cursor - len([]rune(word)), End: cursor}
	for _, name := range slices.Sorted(slices.Values(names)) {
		if strings.HasPrefix(name, word) {
			c.Add(name, "keyword", "")
		}
	}
	return c.Reply()
}

// commandLine returns the words of a %hyper line before the cursor; the last word is the one to complete. The cursor
// counts characters. ok is false on any other line.
func commandLine(code string, cursor int) (words []string, ok bool) {
	text := []rune(code)
	before := string(text[:max(0, min(cursor, len(text)))])
	line := cells.Uncommented(before[strings.LastIndex(before, "\n")+1:])
	rest, ok := strings.CutPrefix(line, "%"+cells.HyperVerb+" ")
	if !ok {
		return nil, false
	}
	words = strings.Fields(rest)
	if len(words) == 0 || strings.HasSuffix(rest, " ") {
		words = append(words, "")
	}
	return words, true
}

// commandLimit is the maximum time for compiling the command and for its answer.
const commandLimit = time.Minute

// completeCommand asks the hyper command for completions of the last word. After an error there are no completions.
func (k *kernel) completeCommand(ctx context.Context, e *engine, words []string, cursor int) map[string]any {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, k.config.Program, append([]string{cells.HyperVerb, "__complete"}, words...)...)
	cmd.Dir, cmd.Env = k.config.Start, append(k.config.Env[:len(k.config.Env):len(k.config.Env)], "TMPDIR="+e.dir)
	out, _ := cmd.Output()
	word := words[len(words)-1]
	c := gopls.Completions{Start: cursor - len([]rune(word)), End: cursor}
	for line := range strings.Lines(string(out)) {
		name, about, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(name, ":") { // The last line, a directive of Cobra.
			break
		}
		if strings.HasPrefix(name, word) {
			c.Add(name, "keyword", about)
		}
	}
	return c.Reply()
}
