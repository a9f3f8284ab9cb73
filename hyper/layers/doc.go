// Package layers estimates the uncertainty of any GoMLX network: it has hypermodels as layers over a model.Scope, which
// GoMLX's own Trainer trains. The outputs of a network then depend on an index z, and their spread over z is large
// where the network lacks data.
//
//	func classifier(scope *model.Scope, images *Node) *Node {
//		z := layers.Index(scope, index.Gaussian{N: 8}, 16)
//		h := fnn.New(scope.In("trunk"), images, 64).NumHiddenLayers(2, 64).Done()
//		return layers.Dense(scope.In("out"), z, h, 10).Prior(3).Done() // [indices, batch, 10]
//	}
//
//	trainer := train.NewTrainer(backend, store, classifier, layers.Loss(loss.SparseCategoricalCrossEntropyLogits),
//		optimizer.Adam().Done(), nil, layers.JointMetrics(10))
//
// [Index] draws new indices in each training step, and always the same indices in evaluation. [Dense] and [FNN] are
// hypermodels of one layer and of a network. [Epinet] is an epinet on given features. [LastLayer] becomes a posterior
// after training, in closed form. [Dropout] drops the units that the index names. [Ensemble] makes particles of any
// model function, [Prior] a fixed random function, and [Belief] takes a belief of package hyper that gradients train.
// [Loss] averages a GoMLX loss over the indices, and adds the perturbations and the regularizer of sections 2.1 and
// 2.2. [Sampler] returns predictions at many indices, the uncertainty of each input, and scores by labels. In graphs
// [Probabilities], [Entropies], [MarginalNLL], [JointNLL] and [CalibrationError] compute these.
//
// Dense, FNN, Epinet, Dropout and Belief compute the same functions of (nu, z, x) as the beliefs of package hyper, by
// the same code. In the other direction, hyper.OnFeatures makes a belief of a network of GoMLX, for an agent. All
// numbers are float32.
//
// # Reproducible training
//
// Initial values and indices come from the named streams of package rng: the seed is [ParamSeed], the names are the
// scopes' paths, and the period is the trainer's global step, which GoMLX's optimizers count. They do not depend on the
// order in which layers are made. GoMLX's own layers draw their initial values by model.ParamInitialSeed.
//
// Functions that build graphs panic on bad arguments, as GoMLX's do; the trainer or the executor returns the panic as
// an error, which names the layer's scope. They may be used by one goroutine for each graph.
package layers
