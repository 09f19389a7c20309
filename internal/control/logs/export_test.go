package logs

// Readable is how a stored body is shown.
var Readable = readable
