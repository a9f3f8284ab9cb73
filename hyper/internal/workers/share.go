package workers

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hypermodels/hypermodels/hyper/backend"
)

// OpenShare opens a backend with the k-th of n shares of the cores, for a share "k/n". A process opens a backend only
// once.
func OpenShare(name, share string) error {
	first, second, _ := strings.Cut(share, "/")
	k, err1 := strconv.Atoi(first)
	n, err2 := strconv.Atoi(second)
	if err1 != nil || err2 != nil || k < 0 || n < 1 {
		return fmt.Errorf("%q is not a share of the cores: want k/n with k from 0 to n-1", share)
	}
	var err error
	onShare(k, n, func() { _, err = backend.Open(name) })
	return err
}
