package admin

// Readable is how a kept body is shown.
var Readable = readable

// What becomes of a config document on its way out and back in.
var (
	MaskConfig   = maskConfig
	UnmaskConfig = unmaskConfig
)
