// Package hyper provides the concepts of "Hypermodels for Exploration" (ICLR 2020) on GoMLX.
package hyper

// Version of the module, as result files and `hyper doctor` report it.
const Version = "0.1.0"
