// Package layer connects a Jupyter client to GoNB, the engine that compiles and runs Go cells. Both together are a
// kernel that complies with Jupyter's messaging protocol.
//
// The client connects to the layer, and the layer starts GoNB with a connection file of its own. The layer handles
// requests one after the other, but answers completion and inspection while a cell runs, from a gopls of its own. It
// also answers the requests that GoNB 0.11.4 does not answer (is_complete, history, comm_info) and requests that must
// not wait for GoNB (kernel_info, interrupt, shutdown). It signs all other requests anew and forwards them.
//
// The commands of cells run inside wrappers. GoNB's `go build` calls [RunBuild], which wraps the program in [RunCell].
// `!command` lines and script cells are rewritten to call [RunShell] and [RunScript], and so are `%kept` and `%hyper`,
// which are verbs of the same program. A wrapped command can connect to a socket of the layer, see [programs], to
// display data and to open comms without GoNB. A wrapper reports failures and panics by marks on standard error (see
// [marks]). The layer removes the marks from the stream and turns them into errors.
package layer

import (
	"context"
	"io"
	"net"
)

// Config holds the settings of a kernel.
type Config struct {
	Connection string   // the client's connection file
	Dir        string   // a folder for temporary files, which the caller removes; its path must be short
	Program    string   // path of the program with the verbs below, which call the functions Run...
	Engine     []string // GoNB's command line, without -kernel
	Env        []string // GoNB's environment
	Start      string   // the folder in which GoNB starts
	Log        io.Writer
}

// Serve runs a kernel until the client shuts it down or ctx ends.
func Serve(ctx context.Context, c Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := writeShim(c.Dir, c.Program, goplsOf(c)); err != nil {
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

// listen returns a kernel to which a client can connect. quit must end the kernel.
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
