package tokens

import "math"

// vision is how models of a family count images.
type vision struct {
	maxTokens int64 // maximum cost of one image
	blind     int64 // cost of an image of unknown size
	cost      func(width, height int, detail string) int64
}

// tiled is the rule of OpenAI: an image is scaled to fit 2048 by 2048, with the shorter side
// at most 768, and each square of 512 that it touches costs tile. Detail "low" costs only
// base.
// Source: https://developers.openai.com/api/docs/guides/images-vision, read 2026-11; that
// sides are rounded follows from what the API bills for 2049 and 2050 by 513.
func tiled(base, tile int64) vision {
	return vision{maxTokens: base + 8*tile, blind: base + 4*tile, cost: func(w, h int, detail string) int64 {
		if detail == "low" {
			return base
		}
		x, y := fit(w, h, 2048)
		if short := min(x, y); short > 768 {
			x, y = round(x*768/short), round(y*768/short)
		}
		return base + tile*squaresOf(x, y, 512)
	}}
}

// patched is the rule of OpenAI's smaller models: squares of 32, at most limit of them, each
// times a factor.
// Source: the same.
func patched(factor float64, limit int) vision {
	cost := func(patches int64) int64 { return int64(math.Ceil(float64(patches) * factor)) }
	return vision{maxTokens: cost(int64(limit)), blind: cost(1024), cost: func(w, h int, _ string) int64 {
		x, y := float64(w), float64(h)
		if n := squaresOf(x, y, 32); n <= int64(limit) {
			return cost(n)
		}
		r := math.Sqrt(32 * 32 * float64(limit) / (x * y))
		across, down := x*r/32, y*r/32
		r *= min(math.Floor(across)/across, math.Floor(down)/down)
		return cost(min(int64(limit), max(1, int64(math.Round(x*r/32)))*max(1, int64(math.Round(y*r/32)))))
	}}
}

// sized is the rule of Anthropic: width times height by 750, after the image is scaled to fit
// its longest side and the maximum cost.
// Source: https://platform.claude.com/docs/en/build-with-claude/vision, read 2026-11.
func sized(side int, maxTokens int64) vision {
	return vision{maxTokens: maxTokens, blind: 1334, cost: func(w, h int, _ string) int64 {
		x, y := fit(w, h, side)
		return min(maxTokens, int64(math.Ceil(x*y/750)))
	}}
}

// squares is the rule of Gemini up to 2.5, and of most open models: each square of that side
// costs each, the complete image at most maxTokens, and blind if its size is not known.
// Source: https://ai.google.dev/gemini-api/docs/tokens (258 for each of 768, and for a
// picture that fits 384), https://docs.together.ai/docs/vision-overview (1,601 for each of
// 560, at most four), the model card of Qwen2.5-VL (one for each of 28, at most 16,384),
// all read 2026-11.
func squares(side int, each, maxTokens, blind int64) vision {
	return vision{maxTokens: maxTokens, blind: blind, cost: func(w, h int, _ string) int64 {
		return min(maxTokens, each*squaresOf(float64(w), float64(h), float64(side)))
	}}
}

// flat is the rule of Gemini from 3 on: the cost of an image depends on its resolution
// setting, not on its size.
// Source: https://ai.google.dev/gemini-api/docs/media-resolution, read 2026-11.
func flat(low, usual, maxTokens int64) vision {
	return vision{maxTokens: maxTokens, blind: usual, cost: func(_, _ int, detail string) int64 {
		if detail == "low" {
			return low
		}
		return usual
	}}
}

// fit scales an image down so that no side is longer than side.
func fit(w, h, side int) (x, y float64) {
	x, y = float64(w), float64(h)
	if long := max(x, y); long > float64(side) {
		x, y = round(x*float64(side)/long), round(y*float64(side)/long)
	}
	return x, y
}

func round(x float64) float64 { return max(1, math.Round(x)) }

func squaresOf(x, y, side float64) int64 {
	return int64(math.Ceil(x/side)) * int64(math.Ceil(y/side))
}
