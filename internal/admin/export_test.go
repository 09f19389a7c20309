package admin

// Readable is how a kept body is shown.
var Readable = readable
