package providerjob

import (
	"strconv"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// These are the values of a video if the request omits them: the longest that providers
// generate by default or at all.
const (
	maxVideoSeconds = 25
	soraSeconds     = 4
	maxVideos       = 4
)

// VideoSeconds is the unit of seconds of video in price lists. A size may have a separate
// price, "video_duration_seconds_1792_1024".
const VideoSeconds = "video_seconds"

// VideoAt returns the unit for a size, "1792x1024"; VideoSeconds if size is not valid.
func VideoAt(size string) string {
	wide, high, ok := strings.Cut(strings.ToLower(size), "x")
	if !ok || wide == "" || high == "" {
		return VideoSeconds
	}
	return "video_duration_seconds_" + wide + "_" + high
}

// VideoRequest is what a request for videos needs.
type VideoRequest struct {
	Sizes   []string // "1280x720": all that the request names, at least one; empty: the provider's default
	Videos  int64    // number of videos, at least 1
	Seconds int64    // maximum of all videos together
}

// ReadVideo reads the JSON body of a request for videos.
// Source: https://platform.openai.com/docs/api-reference/videos/create (4 seconds unless the
// request says otherwise), https://ai.google.dev/gemini-api/docs/video, read 2026-11.
func ReadVideo(body []byte) VideoRequest {
	v := VideoRequest{Sizes: sizesIn(body), Videos: 1}
	for _, path := range [...][]string{{"seconds"}, {"duration"}, {"n_seconds"}, {"duration_seconds"}, {"parameters", "durationSeconds"}} {
		v.Seconds = max(v.Seconds, numberAt(body, path...))
	}
	switch {
	case v.Seconds > 0:
	case strings.HasPrefix(jsonedit.Text(body, "model"), "sora"):
		v.Seconds = soraSeconds
	default:
		v.Seconds = maxVideoSeconds
	}
	for _, path := range [...][]string{{"n"}, {"n_variants"}, {"parameters", "sampleCount"}, {"numberOfVideos"}} {
		v.Videos = max(v.Videos, min(numberAt(body, path...), 64))
	}
	if has(body, "parameters") && !has(body, "parameters", "sampleCount") {
		v.Videos = max(v.Videos, maxVideos) // Google's default differs by model
	}
	v.Seconds = Times(v.Seconds, v.Videos)
	return v
}

// sizesIn returns all sizes that a request names, because the provider chooses which one
// applies.
func sizesIn(body []byte) (sizes []string) {
	for _, field := range [...]string{"size", "ratio"} {
		for raw := range Values(body, field) {
			if s, _ := jsonedit.Unquote(raw); s != "" {
				sizes = append(sizes, s)
			}
		}
	}
	if wide, high := numberAt(body, "width"), numberAt(body, "height"); wide > 0 && high > 0 {
		sizes = append(sizes, strconv.FormatInt(wide, 10)+"x"+strconv.FormatInt(high, 10))
	}
	if len(sizes) == 0 {
		sizes = append(sizes, "")
	}
	return sizes
}
