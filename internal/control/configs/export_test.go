package configs

// The masking of a config document in responses, and its reversal in requests.
var (
	MaskConfig   = maskConfig
	UnmaskConfig = unmaskConfig
)
