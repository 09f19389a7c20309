package tokens

import (
	"bytes"
	"slices"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// These are generous limits for what a provider may add around the text of a call.
const (
	maxTurnOverhead     = 16
	maxToolOverhead     = 64
	maxToolsetOverhead  = 1024
	maxResponseOverhead = 64
)

// MaxCallTokens returns an upper bound of what a provider can count as the input of a
// conversation: one token for each byte of text, and the maximum for its media and the text
// around them. model limits what media can cost; see Counter.Call. Files that are only named
// count as 2,097,152 tokens, the largest context window: use the smaller of this and the
// model's own.
func MaxCallTokens(c *llm.Call, model string) int64 {
	b := maxCounter{families: []*family{familyOf(model)}}
	countCall(&b, c)
	return b.result()
}

// MaxRequestTokens is MaxCallTokens for a raw request body that any of the models may read;
// see Counter.Request.
func MaxRequestTokens(ep llm.Endpoint, body []byte, models ...string) int64 {
	if n, ok := maxPlainTokens(body); ok {
		return n
	}
	var b maxCounter
	for _, model := range models {
		if f := familyOf(model); !slices.Contains(b.families, f) {
			b.families = append(b.families, f)
		}
	}
	countRequest(&b, ep, body)
	n := b.result()
	if ep == llm.Proxy {
		n = boundBytes(body)
	}
	if namesUnseen(ep, body) {
		n = max(n, window)
	}
	return n
}

// maxPlainTokens limits a body without media by its bytes, and the tools and schemas in it,
// which providers rewrite, by three times theirs. It decodes nothing.
func maxPlainTokens(body []byte) (n int64, ok bool) {
	m := mentioned(body)
	if m == beyond {
		return 0, false
	}
	if m == nothing {
		return int64(len(body)) + maxResponseOverhead, true
	}
	return boundBytes(body), true
}

// boundBytes is maxPlainTokens for any body.
func boundBytes(body []byte) int64 {
	n := int64(len(body)) + maxResponseOverhead
	for name, raw := range jsonedit.Members(body) {
		if rewritten[string(name)] {
			n += 2*int64(len(raw)) + maxToolsetOverhead
		}
	}
	return n
}

// mention is what the names in a body may indicate.
type mention uint8

const (
	nothing mention = iota // only text
	forms                  // members that providers rewrite
	beyond                 // members that may count more than their bytes
)

// keywords are the beginnings of names of members that are not only text, by their first
// letter.
var keywords = func() (by [256][]keyword) {
	for _, name := range [...]string{"image", "input_image", "input_audio", "input_file", "file", "document", "encrypted",
		`video"`, "video_", "videoU", `audio"`, "audio_", "audioU", "input_video", "s3", "gs://", "gcs", `uri"`, `url"`,
	} {
		by[name[0]] = append(by[name[0]], keyword{name, beyond})
	}
	for name := range rewritten {
		by[name[1]] = append(by[name[1]], keyword{name[1:], forms})
	}
	return by
}()

type keyword struct {
	begins string
	means  mention
}

// rewritten are the members that providers rewrite.
var rewritten = map[string]bool{`"tools"`: true, `"functions"`: true, `"response_format"`: true, `"output_config"`: true, `"text"`: true}

// mentioned checks what follows each quotation mark, values as well as names, so it may find
// too much. Letters that are written as escapes could hide a name.
func mentioned(body []byte) mention {
	if bytes.Contains(body, []byte(`\u`)) {
		return beyond
	}
	highest := nothing
	for {
		index := bytes.IndexByte(body, '"')
		if index < 0 || index+1 == len(body) {
			return highest
		}
		body = body[index+1:]
		for _, w := range keywords[body[0]] {
			if len(body) >= len(w.begins) && string(body[:len(w.begins)]) == w.begins {
				highest = max(highest, w.means)
			}
		}
		if highest == beyond {
			return highest
		}
	}
}

// maxCounter is the counter of MaxCallTokens and MaxRequestTokens.
type maxCounter struct {
	families []*family
	total    int64
	turns    int
	tools    int
}

func (b *maxCounter) text(s string)   { b.total += int64(len(s)) }
func (b *maxCounter) sealed(size int) { b.total += int64(size) }
func (b *maxCounter) tokens(n int64)  { b.total += n }

func (b *maxCounter) medium(m *medium) {
	var highest int64
	for _, f := range b.families {
		highest = max(highest, m.maxTokens(f))
	}
	b.total += highest
}

func (b *maxCounter) turn(_, name string) {
	b.turns++
	b.total += maxTurnOverhead + int64(len(name))
}

func (b *maxCounter) tool(t *llm.Tool) {
	b.tools++
	b.total += maxToolOverhead + int64(len(t.Name)+len(t.Description)+max(len(t.Schema), 2*len(t.Raw)))
	if t.Type == llm.Function {
		b.total += int64(len(t.Schema))
	}
}

func (b *maxCounter) result() int64 {
	n := b.total
	if b.turns > 0 {
		n += maxResponseOverhead
	}
	if b.tools > 0 {
		n += maxToolsetOverhead
	}
	return n
}
