package layer

import (
	"context"
	"errors"
	"io"

	"github.com/hypermodels/hypermodels/kernels/layer/gopls"
)

// ensureEngine returns the running engine, or starts one. If the new engine does not answer, it tries once more.
func (k *kernel) ensureEngine(ctx context.Context) (*engine, error) {
	k.starting.Lock() // Cells and questions both ask for an engine.
	defer k.starting.Unlock()
	if e := k.running(); e != nil {
		select {
		case <-e.gone:
			e.kill() // Removes its remaining files.
		default:
			return e, nil
		}
	}
	e, err := k.startEngine(ctx)
	if errors.Is(err, errMute) {
		e, err = k.startEngine(ctx)
	}
	return e, err
}

func (k *kernel) startEngine(ctx context.Context) (*engine, error) {
	k.mu.Lock()
	k.engine = nil
	k.engines++
	number := k.engines
	k.mu.Unlock()
	k.comms.clear()
	e, err := startEngine(ctx, k.config, number)
	if err != nil {
		return nil, err
	}
	e.gopls = gopls.NewAssistant(func(dir string) (io.ReadWriteCloser, error) {
		env := k.config.Env
		return gopls.Start(goplsOf(k.config), dir, append(env[:len(env):len(env)], "TMPDIR="+e.dir), nil)
	}, e.programDir)
	k.mu.Lock()
	k.engine = e
	k.mu.Unlock()
	go e.listen(e.shell, k.fromShell)
	go e.listen(e.iopub, func(m message) { k.fromIOPub(e, m) })
	go e.listen(e.control, func(message) {}) // Replies to interrupts.
	go e.listen(e.stdin, func(m message) { k.question(e, m) })
	if err := e.awaitReady(); err != nil {
		return nil, err
	}
	return e, nil
}
