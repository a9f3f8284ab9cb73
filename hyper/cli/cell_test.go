package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/notebook/frontend"
)

// listen simulates the kernel for commands: it returns the data that they display, by MIME type.
func listen(t *testing.T) (socket string, displayed <-chan map[string]string) {
	t.Helper()
	dir := must.M1(os.MkdirTemp("", "f")) // The path of a socket must be short.
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket = filepath.Join(dir, "f")
	l := must.M1(net.Listen("unix", socket))
	t.Cleanup(func() { l.Close() })
	all := make(chan map[string]string, 1000)
	go func() {
		defer close(all)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		lines := bufio.NewScanner(c)
		lines.Buffer(nil, frontend.LongestLine)
		for lines.Scan() {
			var m frontend.Message
			var content struct{ Data map[string]string }
			must.M(json.Unmarshal(lines.Bytes(), &m))
			if m.Type == frontend.Sync {
				c.Write(append(lines.Bytes(), '\n'))
			} else if m.Type == "display_data" {
				must.M(json.Unmarshal(m.Content, &content))
				all <- content.Data
			}
		}
	}()
	return socket, all
}

// A run in a cell shows a figure and one text, with a table and the folder of the results. It writes nothing to
// standard output and error; a page shows the latter in red.
func TestRunInACell(t *testing.T) {
	socket, displayed := listen(t)
	c := command(t, "run", "gaussian", "--agent", "linear,ensemble", "--runs", "2", "--periods", "20", "--set", "arms=3",
		"--out", "here")
	c.Env = append(c.Env, frontend.Var+"="+socket)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	if err := c.Run(); err != nil || out.Len() > 0 || said.Len() > 0 {
		t.Fatalf("error %v, standard output %q, standard error %q, want none", err, out.String(), said.String())
	}
	pictures, texts := 0, []string{}
	for data := range displayed {
		if html := data["text/html"]; strings.HasPrefix(html, `<img alt="cumulative regret against period t"`) {
			pictures++
		}
		if text, ok := data["text/markdown"]; ok {
			texts = append(texts, text)
		}
	}
	if pictures != 1 || len(texts) != 1 {
		t.Fatalf("got %d pictures and texts %q, want 1 of each", pictures, texts)
	}
	for _, want := range []string{"**gaussian, 20 periods, 2 runs", "\n| agent | cumulative regret |", "\n| linear | ",
		"\n| ensemble | ", "\n\nResults in `here`: `notebook.Results(\"here\")` reads them"} {
		if !strings.Contains(texts[0], want) {
			t.Errorf("got no %q in %s", want, texts[0])
		}
	}
}
