package usage

import (
	"bytes"

	"sluice/internal/kernel/llm"
)

// Limits of a Scanner, in bytes: for one member, and for all.
const (
	sieveMember = 64 << 10
	sieveAll    = 256 << 10
)

// sieved are the members that may contain usage, apart from the output.
var sieved = map[string]bool{
	`"type"`: true, `"model"`: true, `"usage"`: true, `"tool_usage"`: true, `"service_tier"`: true, `"response"`: true, `"message"`: true,
	`"meta"`: true, `"usage_info"`: true, `"duration"`: true, `"usageMetadata"`: true, `"amazon-bedrock-invocationMetrics"`: true, `"modelVersion"`: true, `"candidates"`: true, `"prompt_eval_count"`: true, `"eval_count"`: true,
}

// Scanner finds the usage in a JSON response of any size that arrives in fragments. It stores
// the top-level members that may contain usage, and no member over 64 KiB. The zero value is ready.
// It belongs to one goroutine.
type Scanner struct {
	depth   int
	text    bool   // inside a string
	escaped bool   // after a backslash in it
	member  []byte // the incomplete member
	large   bool   // the member is too large to store
	found   []byte // `{"model":"m","usage":{…}`
}

// Feed reads the next fragment.
func (s *Scanner) Feed(p []byte) {
	from := 0
	for i := 0; i < len(p); i++ {
		if s.text {
			i = s.skipString(p, i)
			continue
		}
		switch p[i] {
		case '"':
			s.text = true
		case '{', '[':
			if s.depth++; s.depth == 1 {
				from, s.member, s.large = i+1, s.member[:0], false
			}
		case '}', ']':
			if s.depth = max(s.depth-1, 0); s.depth == 0 {
				s.take(p[from:i])
				s.end()
				from = i + 1
			}
		case ',':
			if s.depth == 1 {
				s.take(p[from:i])
				s.end()
				from = i + 1
			}
		}
	}
	s.take(p[min(from, len(p)):])
}

// skipString continues inside a string. It returns the position of the closing quote, a backslash,
// an escaped character or the last byte, whichever is first.
func (s *Scanner) skipString(p []byte, i int) int {
	if s.escaped {
		s.escaped = false
		return i
	}
	rest := p[i:]
	end := bytes.IndexByte(rest, '"')
	if end >= 0 {
		rest = rest[:end]
	}
	switch offset := bytes.IndexByte(rest, '\\'); {
	case offset >= 0:
		s.escaped = true
		return i + offset
	case end < 0:
		return len(p) - 1
	}
	s.text = false
	return i + end
}

// take appends to the incomplete member.
func (s *Scanner) take(b []byte) {
	if s.large = s.large || len(s.member)+len(b) > sieveMember; !s.large {
		s.member = append(s.member, b...)
	}
}

// end stores a complete member if it may contain usage.
func (s *Scanner) end() {
	if !s.large && len(s.found)+len(s.member) < sieveAll {
		before := len(s.found)
		if before == 0 {
			s.found = append(s.found, '{')
		} else {
			s.found = append(s.found, ',')
		}
		offset := len(s.found)
		s.found = append(s.found, s.member...)
		if !sieved[nameOf(s.found[offset:])] {
			s.found = s.found[:before]
		}
	}
	s.member, s.large = s.member[:0], false
}

// nameOf is the name of a raw member with its quotes.
func nameOf(member []byte) string {
	name, _, _ := bytes.Cut(member, []byte{':'})
	return string(bytes.TrimSpace(name))
}

// Usage is the usage of the part of the response that arrived: see the function Usage.
func (s *Scanner) Usage(ep llm.Endpoint) (u llm.Usage, model string) {
	return Read(ep, append(s.found, '}'), "")
}
