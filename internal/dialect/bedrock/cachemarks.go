package bedrock

import (
	"bytes"

	"sluice/internal/kernel/llm"
)

// anHour is the longer of the two lifetimes of a cache point. The default is five minutes.
const anHour = "1h"

// cacheMarks decides which marks of a call become cache points.
//
// Bedrock rejects a call in which a cache point of an hour follows one of five minutes, in the order
// tools, system prompt, messages. Callers can send such a call, because instructions and tools have
// other positions in other formats. The shorter marks are then dropped: the longer one after them
// caches the same content.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CachePointBlock.html, read
// 2026-11; the error in https://github.com/BerriAI/litellm/pull/25855, of 2026-04-16.
type cacheMarks struct {
	supported bool                // the model supports cache points
	hour      bool                // cache points may have a lifetime
	shadowed  map[*llm.Cache]bool // marks that must be dropped because a longer one follows
}

func newCacheMarks(c *llm.Call, model string) cacheMarks {
	m := cacheMarks{supported: CachesPrompts(model), hour: CachesForAnHour(model)}
	if m.supported && m.hour {
		m.shadowed = shadowed(marksInOrder(c))
	}
	return m
}

// markOf is a mark with the position of its content in the call.
type markOf struct {
	*llm.Cache
	at position
}

// position is the position of a part. Parallel tool calls of a message share one, because they share
// a path in the list of dropped fields.
type position struct{ message, part int }

// shadowed returns the marks that a longer one follows, and those at the positions of such marks: a
// path that is reported as dropped is dropped completely.
func shadowed(marks []markOf) map[*llm.Cache]bool {
	last := len(marks) - 1
	for last > 0 && marks[last].TTL != anHour {
		last--
	}
	var positions map[position]bool
	for _, m := range marks[:max(last, 0)] {
		if m.TTL != anHour {
			if positions == nil {
				positions = map[position]bool{}
			}
			positions[m.at] = true
		}
	}
	if positions == nil {
		return nil
	}
	short := map[*llm.Cache]bool{}
	for _, m := range marks {
		if positions[m.at] {
			short[m.Cache] = true
		}
	}
	return short
}

// marksInOrder lists the marks of a call in the order of Converse.
func marksInOrder(c *llm.Call) (marks []markOf) {
	const tools = -1
	for i := range c.Tools {
		if t := &c.Tools[i]; t.Cache != nil && t.Type == llm.Function {
			marks = append(marks, markOf{t.Cache, position{tools, i}})
		}
	}
	for _, instructs := range [...]bool{true, false} {
		for i := range c.Messages {
			if c.Messages[i].Role.Instructs() == instructs {
				marks = appendMarks(marks, i, c.Messages[i].Parts)
			}
		}
	}
	return marks
}

func appendMarks(marks []markOf, message int, parts []llm.Part) []markOf {
	for k := range parts {
		if cache := mark(&parts[k]); cache != nil {
			marks = append(marks, markOf{cache, position{message, parts[k].Index}})
		}
	}
	return marks
}

// mark returns the cache mark of a part. Converse does not accept marks inside a tool result, so
// the first of them becomes the mark of the complete result.
func mark(p *llm.Part) *llm.Cache {
	if p.Cache != nil || p.Result == nil {
		return p.Cache
	}
	for i := range p.Result.Parts {
		if c := p.Result.Parts[i].Cache; c != nil {
			return c
		}
	}
	return nil
}

// canPrecedePoint reports whether a cache point may follow a content block that was just written; false
// for nothing. Bedrock rejects one directly after reasoning, and after a document from which it
// extracts the text: all except PDF.
// Source: the errors in https://github.com/anomalyco/opencode/issues/36517, of 2026-07-12, and
// https://github.com/aws/aws-sdk-java-v2/issues/6277, of 2026-08-05.
func canPrecedePoint(block []byte) bool {
	block = bytes.TrimPrefix(block, []byte(","))
	format, isDocument := bytes.CutPrefix(block, []byte(`{"document":{"format":"`))
	switch {
	case isDocument:
		return bytes.HasPrefix(format, []byte(`pdf"`))
	case bytes.HasPrefix(block, []byte(`{"reasoningContent":`)):
		return false
	}
	return len(block) > 0
}

// cachePoint writes a cache point after the content that is to be cached. The path is that content's.
func (w *callBody) cachePoint(c *llm.Cache, path string) {
	if !w.marks.supported || w.marks.shadowed[c] {
		w.t.Drop(path + ".cache_control")
		return
	}
	ttl := c.TTL
	if !w.marks.hour {
		if ttl == anHour {
			w.t.Drop(path + ".cache_control.ttl")
		}
		ttl = ""
	}
	w.Open('{')
	w.Key("cachePoint").Open('{')
	w.Str("type", "default")
	w.Opt("ttl", ttl)
	w.Close('}')
	w.Close('}')
}
