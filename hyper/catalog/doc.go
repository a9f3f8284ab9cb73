// Package catalog is the list of what exists: learners, beliefs, policies, losses, optimizers, schedules and worlds,
// each with a name, a description and default settings. The command, experiments, services and notebooks read these
// lists. A program chooses a learner by its name and sets it by keys:
//
//	for _, e := range catalog.Learners() {
//		fmt.Println(e.Name, "is", e.Doc)
//	}
//	settings, err := catalog.Find("ensemble") // or: catalog.For("ensemble", problem, []byte(`{"particles": 30}`))
//	...
//	ensemble := settings(true) // for a world of arms
//	err = catalog.Set(ensemble, "particles", "30")
//	err = catalog.Set(ensemble, "policy", "ucb")
//	err = catalog.Set(ensemble, "policy-quantile", "0.9")
//	l := ensemble.Learner(problem, periods)
//
// A program adds to the lists with AddBelief, AddPolicy, AddLoss, AddOptimizer, AddSchedule, AddLearner and AddWorld,
// and everything that reads the lists then knows the entry. A field of the value that has a `help` tag is a setting,
// see [Key]. The functions panic if the entry could not be used: if the name is taken or cannot be typed, if the value
// is nil or a pointer, or if a field with a `help` tag cannot be set. Call them before the work begins, usually in
// main: settings that were read earlier do not know the entry. All functions are safe for concurrent use.
package catalog
