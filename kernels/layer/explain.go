package layer

import (
	"context"
	"fmt"
)

// Explain is a kernel that answers what is asked of any, and a cell by why it cannot be executed, until the client
// shuts it down or ctx ends.
func Explain(ctx context.Context, connectionFile string, why error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k, err := listen(Config{Connection: connectionFile}, cancel)
	if err != nil {
		return err
	}
	defer k.front.close()
	k.broken = newFault("KernelError", fmt.Sprintf("the Go kernel did not start: %v", why),
		"When that is mended, restart the kernel.")
	k.run(ctx)
	<-ctx.Done()
	return nil
}

// refuse answers what a kernel that is broken cannot do.
func (k *kernel) refuse(r request) {
	answer := failed(k.broken)
	if r.head.Type == "execute_request" {
		var in executeRequest
		if r.read(&in) != nil {
			return
		}
		if !in.Silent {
			k.count++
			k.publish(r.message, "execute_input", map[string]any{"code": in.Code, "execution_count": k.count})
			k.publish(r.message, "error", k.broken)
		}
		answer["execution_count"] = k.count
	}
	k.reply(k.front.shell, r.message, answer)
}
