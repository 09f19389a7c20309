package jobs

import (
	"strings"

	"sluice/internal/splice"
)

// What a video has where the request does not say it: as long as the longest that the
// providers make by default or at most.
const (
	maxVideoSeconds = 25
	soraSeconds     = 4
	maxVideos       = 4
)

// VideoSeconds is the name of a second of video in price lists; a size may have a price of
// its own, "video_duration_seconds_1792_1024".
const VideoSeconds = "video_seconds"

// VideoAt is the name of a second of a size, "1792x1024"; VideoSeconds of none.
func VideoAt(size string) string {
	wide, high, ok := strings.Cut(strings.ToLower(size), "x")
	if !ok || wide == "" || high == "" {
		return VideoSeconds
	}
	return "video_duration_seconds_" + wide + "_" + high
}

// VideoRequest is what a request for a video asks for.
type VideoRequest struct {
	Size    string // "1280x720"; empty: the provider's default
	Seconds int64  // of all videos together, at most
	Known   bool   // the request, or the provider's documented default, says how long they are
}

// ReadVideo reads the JSON body of a request for videos.
// Source: https://platform.openai.com/docs/api-reference/videos/create (4 seconds unless the
// request says otherwise), https://ai.google.dev/gemini-api/docs/video, read 2026-11.
func ReadVideo(body []byte) VideoRequest {
	v := VideoRequest{Size: firstText(body, "size", "ratio")}
	for _, path := range [...][]string{{"seconds"}, {"duration"}, {"n_seconds"}, {"duration_seconds"}, {"parameters", "durationSeconds"}} {
		v.Seconds = max(v.Seconds, numberAt(body, path...))
	}
	if wide, high := numberAt(body, "width"), numberAt(body, "height"); v.Size == "" && wide > 0 && high > 0 {
		v.Size = string(mustRaw(body, "width")) + "x" + string(mustRaw(body, "height"))
	}
	v.Known = v.Seconds > 0
	switch {
	case v.Known:
	case strings.HasPrefix(splice.Text(body, "model"), "sora"):
		v.Seconds, v.Known = soraSeconds, true
	default:
		v.Seconds = maxVideoSeconds
	}
	n := int64(1)
	for _, path := range [...][]string{{"n"}, {"n_variants"}, {"parameters", "sampleCount"}, {"numberOfVideos"}} {
		n = max(n, min(numberAt(body, path...), 64))
	}
	if raw, ok := splice.Find(body, "parameters"); ok && !has(raw, "sampleCount") && n == 1 {
		n = maxVideos // Google's default differs by model
	}
	v.Seconds *= n
	return v
}

func mustRaw(body []byte, name string) []byte {
	raw, _ := splice.Find(body, name)
	return raw
}
