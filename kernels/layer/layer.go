// Package layer connects a Jupyter client to GoNB, the engine that compiles and runs Go cells. Both together are a
// kernel that complies with Jupyter's messaging protocol.
//
// The client connects to the layer, and the layer starts GoNB with a connection file of its own. The layer handles
// requests one after the other, but answers completion and inspection while a cell runs, from a gopls of its own. It
// also answers the requests that GoNB 0.11.4 does not answer (is_complete, history, comm_info) and requests that must
// not wait for GoNB (kernel_info, interrupt, shutdown). It signs all other requests anew and forwards them.
//
// This package speaks Jupyter's protocol with the client and with GoNB. The packages below it know the cells:
//
//	cells    parses cells, remembers their declarations, and joins them to programs
//	build    compiles a program; GoNB calls it in place of `go build`
//	wrapper  runs a program, a `!command` or a script in place of GoNB, and reports how it ends
//	gopls    completes and documents code
//
// A cell passes through them in this order: [kernel.execute] parses it with cells and submits its program to build.
// GoNB calls build, and runs the result, which is a wrapper around the compiled program. A `%hyper` line runs as a
// command, too: by the verb hyper of the program in Config. A program can connect to a socket of the layer, see
// [programs], to display data and to open comms without GoNB.
package layer

import (
	"context"
	"net"

	"github.com/hypermodels/hypermodels/kernels/layer/build"
)

// Config holds the settings of a kernel.
type Config struct {
	Connection string   // the client's connection file
	Dir        string   // a folder for temporary files, which the caller removes; its path must be short
	Program    string   // path of the program with the verbs of packages build, wrapper and cells
	Engine     []string // GoNB's command line, without -kernel
	Env        []string // GoNB's environment
	Start      string   // the folder in which GoNB starts
}

// Serve runs a kernel until the client shuts it down or ctx ends.
func Serve(ctx context.Context, c Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := build.WriteScripts(c.Dir, c.Program, goplsOf(c)); err != nil {
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
