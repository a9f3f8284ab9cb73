package offpolicy

import "errors"

// What [Evaluate] and [Compare] refuse. The errors that they return wrap these, with the numbers and what to do.
var (
	ErrNoOverlap  = errors.New("the target takes actions that the log never takes")
	ErrTooFew     = errors.New("too few decisions carry the estimate")
	ErrMeanWeight = errors.New("the logged probabilities are not those that the actions were drawn from")
	ErrNoModel    = errors.New("no predictions of a reward model")
)
