package notebook

import (
	"encoding/base64"
	"encoding/gob"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/janpfeifer/must"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// pipe is the file that replaces GoNB's pipe.
var pipe string

// TestMain simulates GoNB: all output goes to a file.
func TestMain(m *testing.M) {
	dir := must.M1(os.MkdirTemp("", "notebook-test-"))
	pipe = filepath.Join(dir, "out")
	for name, path := range map[string]string{protocol.GONB_PIPE_ENV: pipe,
		protocol.GONB_PIPE_BACK_ENV: filepath.Join(dir, "back")} {
		must.M(errors.Join(os.WriteFile(path, nil, 0o600), os.Setenv(name, path)))
	}
	if os.Getenv("HYPER_BACKEND") == "" {
		_ = os.Setenv("HYPER_BACKEND", backend.Go) // compiles fastest
	}
	gonbui.IsNotebook = true
	livePause, watchPause = 0, 0
	arrived = func() {} // nothing answers here
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// output returns all messages so far.
func output(t *testing.T) (out []protocol.DisplayData) {
	t.Helper()
	file := must.M1(os.Open(pipe))
	defer func() { _ = file.Close() }()
	for in := gob.NewDecoder(file); ; {
		var d protocol.DisplayData
		switch err := in.Decode(&d); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // a message that is still being written
			return out
		case err != nil:
			t.Fatal(err)
		}
		out = append(out, d)
	}
}

// shown returns a function that returns the messages after this call.
func shown(t *testing.T) func() []protocol.DisplayData {
	before := len(output(t))
	return func() []protocol.DisplayData { return output(t)[before:] }
}

// texts returns the HTML of messages to one output.
func texts(t *testing.T, all []protocol.DisplayData) (out []string) {
	t.Helper()
	for _, d := range all {
		text, ok := d.Data[protocol.MIMETextHTML].(string)
		if !ok || d.DisplayID == "" || d.DisplayID != all[0].DisplayID {
			t.Fatalf("got a message for another output: %v", d)
		}
		out = append(out, text)
	}
	return out
}

// checkImage decodes the PNG within HTML and returns its size.
func checkImage(t *testing.T, html string) image.Point {
	t.Helper()
	_, after, ok := strings.Cut(html, ` src="data:image/png;base64,`)
	text, _, ended := strings.Cut(after, `">`)
	if !ok || !ended {
		t.Fatalf("got no image in %.100q", html)
	}
	decoded := must.M1(png.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text))))
	return decoded.Bounds().Size()
}

func TestChoose(t *testing.T) {
	for profile, want := range map[string]int{"": 1, "quick": 1, "full": 2} {
		t.Setenv("HYPER_PROFILE", profile)
		if got := Choose(1, 2); got != want {
			t.Errorf("profile %q: got %d", profile, got)
		}
	}
}

func TestStudyThatIsNotThere(t *testing.T) {
	t.Chdir(t.TempDir())
	defer func() {
		if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "results/neural/*.jsonl.gz") {
			t.Errorf("got %v, want an error that names the files", err)
		}
	}()
	Study("neural/*")
}

// The studies of a folder are the study of the files directly in it, and one study for each subfolder.
func TestStudies(t *testing.T) {
	t.Chdir("../../notebooks")
	var got []string
	for _, s := range Studies("remedies") {
		got = append(got, fmt.Sprintf("%s: %d entries", s.Folder, len(s.Header.Spec.Entries)))
		if len(s.Rows) == 0 {
			t.Errorf("study %s has no rows", s.Folder)
		}
		if text := fmt.Sprint(s); !strings.HasPrefix(text, s.Folder+": neural: ") || len(text) > 300 {
			t.Errorf("a study is printed as %q, want its folder and experiment", text)
		}
	}
	if want := []string{"remedies: 10 entries", "remedies/long: 1 entries"}; !slices.Equal(got, want) {
		t.Errorf("studies %q, want %q", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("missing folder: got studies")
		}
	}()
	Studies("nothing")
}
