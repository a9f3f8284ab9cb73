// Package base holds the base models f_theta of section 2: tabular, linear and multi-layer perceptron.
//
// Axes of arrays: parameters theta are [runs, indices, N_theta], inputs x [runs, inputs, features], and predictions
// [runs, indices, inputs]. All base models are stateless descriptions of graph functions. They are comparable with ==,
// except that MLP has slices.
package base
