package tokens

import (
	"encoding/base64"
	"strings"
)

// mediumKind is how the tokens of a medium are calculated.
type mediumKind uint8

const (
	imageMedium mediumKind = iota
	audioMedium
	film
	document
)

// medium is an image, a recording, a video or a document.
type medium struct {
	kind   mediumKind
	data   string // base64; empty: named by URL or id, with unknown content
	detail string // "low", "high", "auto" or empty
	plain  bool   // a text document, of which only the text counts
	text   string
}

// newMedium returns the medium that a caller sends. The MIME type determines the kind of a
// file.
func newMedium(k mediumKind, mime, data, detail string) *medium {
	m := &medium{kind: k, data: data, detail: detail}
	switch kind, _, _ := strings.Cut(mime, "/"); {
	case kind == "image":
		m.kind = imageMedium
	case kind == "audio":
		m.kind = audioMedium
	case kind == "video":
		m.kind = film
	case k == document && data != "" && isText(mime):
		m.plain, m.text = true, string(decoded(data, len(data)))
	}
	return m
}

// isText reports whether a file of that type is read as text.
func isText(mime string) bool {
	return strings.HasPrefix(mime, "text/") || strings.HasPrefix(mime, "application/json") || strings.HasPrefix(mime, "application/xml")
}

// decoded returns the first bytes, at most limit, of base64 data, up to an error.
func decoded(data string, limit int) []byte {
	data = data[:min(len(data), base64.StdEncoding.EncodedLen(limit))]
	data = strings.TrimRight(data, "=")
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(data)))
	n, _ := base64.RawStdEncoding.Decode(out, []byte(data)) // bytes before an error are used
	return out[:n]
}

// size returns the number of decoded bytes.
func (m *medium) size() int64 { return int64(len(strings.TrimRight(m.data, "="))) * 3 / 4 }

// These are the byte rates of audio and video of unknown format: a typical rate for the
// estimate, the lowest in use for the maximum.
const (
	typicalAudioRate = 16_000  // 128 kbit/s
	minAudioRate     = 750     // 6 kbit/s, Opus
	filmUsual        = 125_000 // 1 Mbit/s
	filmLowest       = 12_500  // 100 kbit/s
)

// filmSecond is the cost of a second of video with audio.
// Source: https://ai.google.dev/gemini-api/docs/tokens, read 2026-11: 263 and 32.
const filmSecond = 263 + 32

// These are typical lengths of media with unknown content.
const (
	unseenPages   = 10
	unseenSeconds = 60
)

// These are for documents whose pages cannot be counted: a typical page size in bytes for the
// estimate, the smallest for the maximum. A provider reads at most a thousand pages.
const (
	pageUsual    = 32 << 10
	minPageBytes = 1 << 10
	pagesMax     = 1000
	pagesLimit   = 8 << 20 // part of a document that is searched for its pages
)

// estimate returns what the medium costs for a family's model, and whether its content is
// unknown.
func (m *medium) estimate(f *family) (n int64, unseen bool) {
	unseen = m.data == ""
	switch m.kind {
	case imageMedium:
		if unseen {
			return m.unseenImage(f), true
		}
		if w, h, ok := pixels(decoded(m.data, headBytes)); ok {
			return min(f.vision.maxTokens, f.vision.cost(w, h, m.detail)), false
		}
		return f.vision.maxTokens, false
	case audioMedium:
		return f.audio * m.seconds(typicalAudioRate), unseen
	case film:
		return filmSecond * m.seconds(filmUsual), unseen
	case document:
		if unseen {
			return f.page * unseenPages, true
		}
	}
	return f.page * m.pages(), false
}

func (m *medium) unseenImage(f *family) int64 {
	if m.detail == "low" {
		return min(f.vision.blind, f.vision.cost(512, 512, "low"))
	}
	return f.vision.blind
}

// seconds returns the length of audio or video, at least one second.
func (m *medium) seconds(rate int64) int64 {
	if m.data == "" {
		return unseenSeconds
	}
	if m.kind == audioMedium {
		rate = audioByteRate(decoded(m.data, AudioHeadBytes), m.size(), rate)
	}
	return max(1, (m.size()+rate-1)/rate)
}

// pages returns the number of pages of a document, at least one.
func (m *medium) pages() int64 {
	if n := pdfPages(decoded(m.data, pagesLimit)); n > 0 {
		return min(n, m.maxPages())
	}
	return min(pagesMax, m.size()/pageUsual+1)
}

func (m *medium) maxPages() int64 { return min(pagesMax, m.size()/minPageBytes+1) }

// window is the largest context window in general use. A provider does not bill what it cannot
// read.
const window = 2 << 20

// maxTokens returns the maximum that the medium can cost for a family's model.
func (m *medium) maxTokens(f *family) int64 {
	var n int64
	switch {
	case m.plain:
		return int64(len(m.text))
	case m.kind == imageMedium:
		return f.vision.maxTokens
	case m.data == "":
		return window
	case m.kind == audioMedium:
		n = f.audio * (m.size()/minAudioRate + 1)
	case m.kind == film:
		n = filmSecond * (m.size()/filmLowest + 1)
	default:
		n = f.page * m.maxPages()
	}
	return min(window, n)
}
