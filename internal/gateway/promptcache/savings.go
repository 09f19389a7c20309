package promptcache

import (
	"sluice/internal/limits/catalog"
)

// Saved returns what the provider's prompt cache saved in a call, in nano-dollars (10^-9): the cost of
// its input at the usual price, less the cost of its input as billed. It is negative when the call
// wrote more to the cache than it read, because most providers charge more for written tokens:
// 1,000 tokens written at 3.75 dollars for a million instead of 3 are -750000.
//
// The units are those from which the cost of the call was calculated. Only its input tokens count. It
// reports false if a price is missing, so that the saving is not known. A response from the gateway's
// own cache saves nothing here.
func Saved(card *catalog.RateCard, u *catalog.Units) (nano int64, known bool) {
	if u.CacheHit || !usesCache(u) {
		return 0, true
	}
	billed := inputOnly(u)
	usual := billed
	usual.Input = sum(u.Input, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h)
	usual.AudioInput = sum(u.AudioInput, u.AudioCacheRead)
	usual.ImageInput = sum(u.ImageInput, u.ImageCacheRead)
	usual.CacheRead, usual.CacheWrite5m, usual.CacheWrite1h, usual.AudioCacheRead, usual.ImageCacheRead = 0, 0, 0, 0, 0
	with, without := card.Cost(&billed, nil), card.Cost(&usual, nil)
	if !with.Priced() || !without.Priced() {
		return 0, false
	}
	return without.Cost - with.Cost, true
}

func usesCache(u *catalog.Units) bool {
	return sum(u.CacheRead, u.CacheWrite5m, u.CacheWrite1h, u.AudioCacheRead, u.ImageCacheRead) > 0
}

// inputOnly returns the units with the input tokens only, at the same time, region and mode.
func inputOnly(u *catalog.Units) catalog.Units {
	return catalog.Units{
		StartedAt: u.StartedAt, Region: u.Region, Execution: u.Execution,
		Input: u.Input, CacheRead: u.CacheRead, CacheWrite5m: u.CacheWrite5m, CacheWrite1h: u.CacheWrite1h,
		AudioInput: u.AudioInput, AudioCacheRead: u.AudioCacheRead, ImageInput: u.ImageInput, ImageCacheRead: u.ImageCacheRead,
	}
}

// sum adds counts. Negative ones count as 0, as in catalog.Units.
func sum(counts ...int64) (total int64) {
	for _, n := range counts {
		total += max(0, n)
	}
	return total
}
