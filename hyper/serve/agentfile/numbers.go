package agentfile

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hypermodels/hypermodels/hyper/serve/api"
)

// checkNumbers reports numbers and times of a Spec that are out of range.
func checkNumbers(s api.Spec) error {
	var errs []error
	check := func(ok bool, message string, got any) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s, got %v", message, got))
		}
	}
	check(s.Floor <= 1, "floor must be at most 1, or negative for none", s.Floor)
	check(s.Pending >= 0, "pending must be 1 or more decisions, or 0 for the default", s.Pending)
	check(s.Expire >= 0, "expire must not be negative; 0 means never", time.Duration(s.Expire))
	check(s.Capacity >= 0, "capacity must be 1 or more rewards, or 0 for the default", s.Capacity)
	check(s.Background >= 0 && s.Background <= 1, "background must be from 0 to 1, a share of the time", s.Background)
	if s.Change.Run != 0 || s.Change.Restart {
		check(s.Change.Run >= 1 && s.Change.Run <= math.MaxFloat32,
			"change.run must be a number of rewards, 1 or more", s.Change.Run)
	}
	if (s.Replay == "window" || s.Replay == "reservoir") && s.Capacity == 0 {
		errs = append(errs, fmt.Errorf("replay %s needs capacity, the number of rewards that are kept", s.Replay))
	}
	return errors.Join(append(errs, checkWaiting(s.Reward, time.Duration(s.Expire)))...)
}

// checkWaiting reports times that do not fit together. expire is the age at which decisions expire; 0 means never.
func checkWaiting(w api.RewardRule, expire time.Duration) error {
	wait, waits := time.Duration(w.Wait), w.Default != nil || w.Combine != "" && w.Combine != "first"
	switch {
	case wait < 0:
		return fmt.Errorf("reward.wait must not be negative, got %v", wait)
	case wait == 0 && waits:
		return errors.New("reward.wait must be given with default, sum, max or last: it is the time to wait for rewards")
	case wait > 0 && !waits:
		return errors.New("reward.wait needs default, or a combine other than first: without them nothing waits")
	case expire > 0 && wait > expire:
		return fmt.Errorf("reward.wait must be at most expire, %v, got %v", expire, wait)
	}
	return nil
}
