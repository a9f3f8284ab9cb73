// Package layer stands between a Jupyter client and GoNB, the engine that compiles and runs Go cells, and makes the two
// together a kernel that keeps to Jupyter's messaging protocol.
//
// The client connects to the layer, and the layer starts GoNB with a connection file of its own. Requests are handled
// one after the other, but those for completion and inspection beside cells, by a gopls of the layer's. Those that GoNB 0.11.4 leaves unanswered (is_complete, history, comm_info) and those that must
// not wait for it (kernel_info, interrupt, shutdown) are answered here; the rest is forwarded, signed anew.
//
// What cells run is wrapped: GoNB's `go build` goes through [RunBuild], which puts [RunCell] around the program, and
// `!command` lines and script cells are rewritten to call [RunShell] and [RunScript]; so are `%kept` and `%hyper`,
// which are verbs of the same program. What runs finds a socket of the layer's, see [programs], to display things and
// to open comms without GoNB. A wrapper reports failures and panics in marks on standard error (see [marks]), which the
// layer takes out of the stream again and turns into errors.
package layer

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
)

// Config says how to run a kernel.
type Config struct {
	Connection string   // the client's connection file
	Dir        string   // a folder for temporary files, which the caller removes; its path must be short
	Program    string   // the program with the verbs below, which call the functions Run...
	Engine     []string // GoNB's command line but for -kernel
	Env        []string // GoNB's environment
	Start      string   // the folder that GoNB starts in
	Log        io.Writer
}

// The verbs of Config.Program.
const (
	CellVerb   = "cell"
	ShellVerb  = "shell"
	ScriptVerb = "script"
	BuildVerb  = "build"
	ToolVerb   = "tool"
	ImportVerb = "imports"
	KeptVerb   = "kept"
	HyperVerb  = "hyper"
)

// Serve is a kernel, until the client shuts it down or ctx ends.
func Serve(ctx context.Context, c Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := writeShim(c); err != nil {
		return err
	}
	k, err := listen(c, cancel)
	if err != nil {
		return err
	}
	defer k.front.close()
	programs, err := net.Listen("unix", programSocket(c.Dir))
	if err != nil {
		return err
	}
	defer programs.Close()
	go k.programs.serve(programs, k)
	k.run(ctx)
	<-ctx.Done()
	k.stop()
	return nil
}

// listen is a kernel that a client can connect to; quit ends it.
func listen(c Config, quit context.CancelFunc) (*kernel, error) {
	conn, err := readConnection(c.Connection)
	if err != nil {
		return nil, err
	}
	session := newID()
	f, err := bind(conn, session)
	if err != nil {
		return nil, err
	}
	return newKernel(c, session, f, quit), nil
}

// stopFile exists while the cell that runs is to end: it was interrupted, or a command in it has failed. The wrappers
// look at it before they start anything.
func stopFile(dir string) string { return dir + "/stop" }

// raise creates the stop file.
func raise(file string) { os.WriteFile(file, nil, 0o600) }

func raised(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func lower(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
