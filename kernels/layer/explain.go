package layer

import (
	"context"
	"fmt"
)

// Explain runs a kernel that cannot execute cells. It answers the usual requests, and replies to each cell with the
// reason why. It returns when the client shuts it down or ctx ends.
func Explain(ctx context.Context, connectionFile string, why error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k, err := listen(Config{Connection: connectionFile}, cancel)
	if err != nil {
		return err
	}
	defer k.front.close()
	k.broken = newFault("KernelError", fmt.Sprintf("the Go kernel did not start: %v", why),
		"Fix the problem, then restart the kernel.")
	k.run(ctx)
	<-ctx.Done()
	return nil
}

// refuse answers a request that needs a working kernel.
func (k *kernel) refuse(r request) {
	answer := failed(k.broken)
	if r.head.Type == "execute_request" {
		var in executeRequest
		if r.read(&in) == nil && !in.Silent {
			k.count++
			k.publish(r.message, "execute_input", map[string]any{"code": in.Code, "execution_count": k.count})
			k.publish(r.message, "error", k.broken)
		}
		answer["execution_count"] = k.count
	}
	k.reply(k.front.shell, r.message, answer)
}
