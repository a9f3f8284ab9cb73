package notebook

// WriteCode is writeCode, for tests.
var WriteCode = writeCode
