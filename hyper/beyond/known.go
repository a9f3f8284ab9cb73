// Package beyond holds experiments from work that followed the paper, one in each file. An experiment has a world,
// learners with their defaults in that world, and sizes. [Claims] lists the tests of the claims of that work. Each
// claim names its source. Where a source gives no bound, the bound is chosen here.
package beyond

import (
	"github.com/hypermodels/hypermodels/hyper/study"
)

// Order lists the names of the experiments, and Known has the experiments by name.
var Order, Known = study.ByName(LinearBandit, UnknownAction, TestbedBandit, QuadraticBandit)

// Claims maps the names of the experiments to the claims about them.
var Claims = map[string][]study.Claim{
	LinearBandit.Name:    linearClaims(),
	UnknownAction.Name:   unknownActionClaims,
	TestbedBandit.Name:   testbedClaims(),
	QuadraticBandit.Name: quadraticClaims(),
}
