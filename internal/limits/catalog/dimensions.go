package catalog

// dimension is a kind of token and the keys of its rates, of which the first with a price
// applies. Tokens without a rate of their own count in a wider dimension: the first of orElse
// that has a price.
type dimension struct {
	name   string
	side   side
	keys   []string
	orElse []int
}

// side is the direction of tokens. Input tokens choose the context tier.
type side uint8

const (
	sideInput side = iota
	sideOutput
	sideFree // neither; free unless a price is listed
)

// These are the dimensions, as indexes into dimensions.
const (
	dimInput = iota
	dimCacheRead
	dimCacheWrite5m
	dimCacheWrite1h
	dimAudioInput
	dimAudioCacheRead
	dimImageInput
	dimImageCacheRead
	dimOutput
	dimReasoning
	dimAudioOutput
	dimImageOutput
	dimCitation
	dimCount
)

// Source: contract/content-and-observability.md 6.3 and 6.4.
var dimensions = [dimCount]dimension{
	dimInput:          {"input", sideInput, []string{"request_text_token", "request_token"}, nil},
	dimCacheRead:      {"cache_read", sideInput, []string{"cache_read_text_input_token", "cached_text_input_token", "cache_read_input_token"}, []int{dimInput}},
	dimCacheWrite5m:   {"cache_write_5m", sideInput, []string{"cache_write_input_token"}, []int{dimInput}},
	dimCacheWrite1h:   {"cache_write_1h", sideInput, []string{longWrite}, []int{dimCacheWrite5m, dimInput}},
	dimAudioInput:     {"audio_input", sideInput, []string{"request_audio_token"}, []int{dimInput}},
	dimAudioCacheRead: {"audio_cache_read", sideInput, []string{"cache_read_audio_input_token"}, []int{dimAudioInput, dimCacheRead, dimInput}},
	dimImageInput:     {"image_input", sideInput, []string{"request_image_token"}, []int{dimInput}},
	dimImageCacheRead: {"image_cache_read", sideInput, []string{"cache_read_image_input_token", "cached_image_input_token"}, []int{dimImageInput, dimCacheRead, dimInput}},
	dimOutput:         {"output", sideOutput, []string{"response_text_token", "response_token"}, nil},
	dimReasoning:      {"reasoning", sideOutput, []string{"reasoning_token"}, []int{dimOutput}},
	dimAudioOutput:    {"audio_output", sideOutput, []string{"response_audio_token"}, []int{dimOutput}},
	dimImageOutput:    {"image_output", sideOutput, []string{"response_image_token"}, []int{dimOutput}},
	dimCitation:       {"citation", sideFree, []string{unitKey + "citation_tokens"}, nil},
}

// tokens returns the counts by dimension.
func (u *Units) tokens() [dimCount]int64 {
	return [dimCount]int64{
		dimInput: u.Input, dimCacheRead: u.CacheRead, dimCacheWrite5m: u.CacheWrite5m, dimCacheWrite1h: u.CacheWrite1h,
		dimAudioInput: u.AudioInput, dimAudioCacheRead: u.AudioCacheRead, dimImageInput: u.ImageInput, dimImageCacheRead: u.ImageCacheRead,
		dimOutput: u.Output, dimReasoning: u.Reasoning, dimAudioOutput: u.AudioOutput, dimImageOutput: u.ImageOutput, dimCitation: u.Citation,
	}
}

// size returns the number of input tokens, which chooses a context tier.
func (u *Units) size() int64 {
	total := int64(0)
	for d, n := range u.tokens() {
		if dimensions[d].side == sideInput {
			total, _ = plus(total, max(0, n))
		}
	}
	return total
}
