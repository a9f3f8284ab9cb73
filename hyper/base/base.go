// Package base holds the base models f_theta of section 2: tabular, linear and multi-layer perceptron.
//
// Axes: parameters theta are [runs, indices, N_theta], inputs x [runs, inputs, features], and predictions
// [runs, indices, inputs]. All are stateless descriptions of graph functions, comparable with ==, except MLP's slices.
package base
