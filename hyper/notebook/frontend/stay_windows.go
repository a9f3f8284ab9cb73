package frontend

import "errors"

func outlive() error { return errors.ErrUnsupported }
