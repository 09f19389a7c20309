package catalog

// rateKey is a member of pay_as_you_go that prices tokens, by its name in the files.
type rateKey struct {
	name  string
	field func(*Rates) **Price // returns the field of the rate
	timed bool                 // for transcriptions it is the price of a minute
}

var rateKeys = [...]rateKey{
	{"request_token", func(r *Rates) **Price { return &r.RequestToken }, false},
	{"response_token", func(r *Rates) **Price { return &r.ResponseToken }, false},
	{"cache_write_input_token", func(r *Rates) **Price { return &r.CacheWriteInput }, false},
	{"cache_read_input_token", func(r *Rates) **Price { return &r.CacheReadInput }, false},
	{"request_audio_token", func(r *Rates) **Price { return &r.RequestAudioToken }, true},
	{"response_audio_token", func(r *Rates) **Price { return &r.ResponseAudioToken }, true},
	{"cache_read_audio_input_token", func(r *Rates) **Price { return &r.CacheReadAudioInput }, false},
	{"request_text_token", func(r *Rates) **Price { return &r.RequestTextToken }, false},
	{"response_text_token", func(r *Rates) **Price { return &r.ResponseTextToken }, false},
	{"request_image_token", func(r *Rates) **Price { return &r.RequestImageToken }, false},
	{"response_image_token", func(r *Rates) **Price { return &r.ResponseImageToken }, false},
	{"cache_read_text_input_token", func(r *Rates) **Price { return &r.CacheReadTextInput }, false},
	{"cached_text_input_token", func(r *Rates) **Price { return &r.CachedTextInputToken }, false},
	{"cache_read_image_input_token", func(r *Rates) **Price { return &r.CacheReadImageInput }, false},
	{"cached_image_input_token", func(r *Rates) **Price { return &r.CachedImageInput }, false},
	{"reasoning_token", func(r *Rates) **Price { return &r.ReasoningToken }, false},
}

// legacyRateNames maps the older names of two rates to the newer ones, which multipliers use.
// Source: contract/content-and-observability.md 6.3.
var legacyRateNames = map[string]string{
	"cached_text_input_token":  "cache_read_text_input_token",
	"cached_image_input_token": "cache_read_image_input_token",
}

// unitKey is the prefix of the names of additional units among the keys of rates.
const unitKey = "additional_units."

// longWrite is the rate of tokens written to the prompt cache for an hour. It is listed among
// the additional units.
const longWrite = unitKey + "cache_write_1h"

// minuteFemto is the price from which request_audio_token is the price of a minute instead of
// a token. It is 0.015 cents, which would be 150 dollars for a million tokens, and is 90 cents
// for a hundred hours. The files do not state which is meant.
// Source: contract/content-and-observability.md 6.3, and the figures of the files.
const minuteFemto = 15 * femtoPerCent / 1000
