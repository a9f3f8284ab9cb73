package layer

import (
	"context"
	"os/exec"
	"strings"
	"time"
)

// commandLine returns the words of a %hyper line before the cursor; the last word is the one to complete. The cursor
// counts characters. ok is false on any other line.
func commandLine(code string, cursor int) (words []string, ok bool) {
	text := []rune(code)
	before := string(text[:max(0, min(cursor, len(text)))])
	line := bare(before[strings.LastIndex(before, "\n")+1:])
	rest, ok := strings.CutPrefix(line, "%"+HyperVerb+" ")
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
	cmd := exec.CommandContext(ctx, k.config.Program, append([]string{HyperVerb, "__complete"}, words...)...)
	cmd.Dir, cmd.Env = k.config.Start, append(k.config.Env[:len(k.config.Env):len(k.config.Env)], "TMPDIR="+e.dir)
	out, _ := cmd.Output()
	word := words[len(words)-1]
	c := completions{start: cursor - len([]rune(word)), end: cursor}
	for line := range strings.Lines(string(out)) {
		name, about, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(name, ":") { // The last line, a directive of Cobra.
			break
		}
		if strings.HasPrefix(name, word) {
			c.add(name, "keyword", about)
		}
	}
	return c.reply()
}
