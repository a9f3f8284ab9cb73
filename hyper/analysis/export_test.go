package analysis

// Levels makes levels available to tests.
var Levels = levels
