package tokens

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// arrow separates the times of a subtitle: "00:00:01,000 --> 00:00:04,200", and "00:01.000 -->
// 00:04.200 align:start" in WebVTT.
// Source: https://www.w3.org/TR/webvtt1/#webvtt-timestamp, read 2026-11.
const arrow = "-->"

// cueText returns the words of a text transcript. Of subtitles it omits the numbers and times,
// "7" and "00:00:01,000 --> 00:00:04,200".
func cueText(transcript string) string {
	var parts strings.Builder
	for line := range strings.Lines(transcript) {
		if !strings.Contains(line, arrow) && strings.Trim(line, "0123456789 \r\n") != "" {
			parts.WriteString(line)
		}
	}
	return parts.String()
}

// SubtitlesMilli returns the end of the last subtitle, in milliseconds from the beginning of
// the recording; 0 for any other text.
func SubtitlesMilli(transcript []byte) (last int64) {
	for line := range bytes.Lines(transcript) {
		if _, end, ok := bytes.Cut(line, []byte(arrow)); ok {
			last = max(last, clockMilli(string(end)))
		}
	}
	return last
}

// clockMilli reads the time at the beginning of a text; 0 for none.
func clockMilli(text string) int64 {
	parts := strings.Fields(strings.ReplaceAll(text, ",", "."))
	if len(parts) == 0 {
		return 0
	}
	var seconds float64
	for part := range strings.SplitSeq(parts[0], ":") {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil || !(n >= 0 && n < 1e6) {
			return 0
		}
		seconds = seconds*60 + n
	}
	return int64(math.Round(min(seconds, 1e9) * 1000))
}
