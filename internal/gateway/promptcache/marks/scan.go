package marks

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"sluice/internal/dialect/conversation"
	"sluice/internal/kernel/jsonedit"
)

// zone is a part of the prompt. Providers read the zones in this order, whatever the order of the
// members in the body.
type zone uint8

const (
	toolZone zone = iota
	systemZone
	turnZone
	zoneCount
)

// spot is a block, or a tool, that can have a mark.
type spot struct {
	zone     zone
	from, to int  // offsets of the block; to is 0 if there is no such block
	text     bool // the block is a string
	size     int  // bytes of its zone up to the end of the block
	index    int  // of the tool or message; -1 for the system prompt
	block    int  // in the list of blocks; -1 for a string, or none
}

// mark is a mark that the body contains already.
type mark struct {
	zone zone
	at   int // offset; marks of a zone apply in this order
	hour bool
	path string // "messages[2].content[0].cache_control"
}

// prompt is the result of a scan.
type prompt struct {
	marks    []mark
	tools    spot // last tool
	system   spot // last block of the system prompt
	turn     spot // last block of the user's last turn
	previous spot // last block of the turn of the user before it
	bytes    [zoneCount]int
	readable bool // the body is one JSON object, and no part of the prompt occurs twice
}

// scanner finds the positions of a prompt in one pass over the body.
type scanner struct {
	prompt
	rules Rules
	r     jsonedit.Reader
	base  int // offset of the reader's text in the body
	// answered is set after a message of the model: the next message of the user begins a turn.
	answered bool
}

// promptMembers are the top-level members with parts of the prompt or marks.
var promptMembers = [...][]string{
	Messages: {"tools", "system", "messages", "cache_control"},
	Chat:     {"tools", "messages", "cache_control"},
	Converse: {"toolConfig", "system", "messages"},
}

func scan(body []byte, rules Rules) prompt {
	text := bytes.TrimLeft(body, " \t\r\n")
	s := scanner{rules: rules, r: jsonedit.NewReader(text), base: len(body) - len(text)}
	if int(rules.Form) >= len(promptMembers) {
		return prompt{}
	}
	members := promptMembers[rules.Form]
	seen := make([]bool, len(members))
	repeated := false
	for name := range s.r.Members() {
		if i := slices.Index(members, string(name)); i >= 0 {
			repeated = repeated || seen[i]
			seen[i] = true
			s.member(members[i])
		}
	}
	s.readable = s.r.IsComplete() && !repeated
	return s.prompt
}

func (s *scanner) member(name string) {
	switch name {
	case "tools":
		s.readTools("tools")
	case "toolConfig":
		for inner := range s.r.Members() {
			if string(inner) == "tools" {
				s.readTools("toolConfig.tools")
			}
		}
	case "system":
		from := s.offset()
		s.system = s.content(systemZone, -1, "system")
		s.bytes[systemZone] = s.offset() - from
	case "messages":
		s.messages()
	case "cache_control": // marks the last block that can have a mark
		s.addMark(turnZone, math.MaxInt)
	}
}

func (s *scanner) offset() int { return s.base + s.r.Mark() }

// addMark reads the value of a mark. The callers prefix its path.
func (s *scanner) addMark(z zone, at int) {
	raw := s.r.Raw()
	if len(raw) > 0 && raw[0] == '{' {
		s.marks = append(s.marks, mark{zone: z, at: at, hour: jsonedit.Text(raw, "ttl") == "1h", path: "cache_control"})
	}
}

// prefix adds the name of a list, and the index in it, to the paths of the marks from index first on.
func (s *scanner) prefix(first int, list string, index int) {
	for i := first; i < len(s.marks); i++ {
		path := list
		if index >= 0 {
			path += "[" + strconv.Itoa(index) + "]"
		}
		if s.marks[i].path != "" {
			path += "." + s.marks[i].path
		}
		s.marks[i].path = path
	}
}

// readTools reads the list of tools. Tools that are loaded later do not accept marks.
// Source: https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool, read 2026-11.
func (s *scanner) readTools(list string) {
	begin := s.offset()
	for i := range s.r.Elements() {
		from, first := s.offset(), len(s.marks)
		if s.r.Kind() != '{' {
			continue
		}
		accepts := s.tool(from)
		s.prefix(first, list, i)
		if accepts && s.rules.Tools {
			s.tools = spot{zone: toolZone, from: from, to: s.offset(), size: s.offset() - begin, index: i, block: -1}
		}
	}
	s.bytes[toolZone] = s.offset() - begin
}

// tool reads a tool and reports whether it can have a mark.
func (s *scanner) tool(from int) bool {
	members, accepts := 0, true
	for name := range s.r.Members() {
		members++
		switch string(name) {
		case "cache_control":
			accepts = false
			s.addMark(toolZone, from)
		case "defer_loading":
			accepts = accepts && string(s.r.Raw()) != "true"
		case "function":
			s.nested(toolZone, 1, "function")
		case "cachePoint":
			accepts = false
			s.addPoint(toolZone, from)
		}
	}
	return accepts && members > 0
}

// addPoint reads a cachePoint of Converse, which is a block of its own.
func (s *scanner) addPoint(z zone, at int) {
	first := len(s.marks)
	s.addMark(z, at)
	for i := first; i < len(s.marks); i++ {
		s.marks[i].path = ""
	}
}

// content reads a string, or a list of blocks, and returns the last block that can have a mark.
func (s *scanner) content(z zone, index int, list string) (last spot) {
	begin := s.offset()
	if s.r.Kind() == '"' {
		raw := s.r.Raw()
		if s.rules.Form == Converse || isBlank(raw) {
			return spot{}
		}
		return spot{zone: z, from: begin, to: s.offset(), text: true, size: s.offset() - begin, index: index, block: -1}
	}
	for k := range s.r.Elements() {
		from, first := s.offset(), len(s.marks)
		if s.readBlock(z, from) {
			last = spot{zone: z, from: from, to: s.offset(), size: s.offset() - begin, index: index, block: k}
		}
		s.prefix(first, list, k)
	}
	return last
}

// blockKind is what decides whether a block can have a mark.
type blockKind uint8

const (
	otherBlock blockKind = iota
	blankBlock           // a text of white space, which providers reject with a mark
	textBlock
	toolBlock  // a call or result of a tool
	mediaBlock // an image or a document
)

// block is what is read of a block.
type block struct {
	kind   blockKind
	text   blockKind // of its text: blankBlock or textBlock
	marked bool
}

// readBlock reads a block and reports whether it can have a mark.
func (s *scanner) readBlock(z zone, from int) bool {
	if s.r.Kind() != '{' {
		return false
	}
	b := block{text: blankBlock}
	for name := range s.r.Members() {
		if s.rules.Form == Converse {
			b.kind = max(b.kind, converseBlocks[string(name)])
		}
		s.blockMember(&b, z, from, name)
	}
	if b.kind == textBlock {
		b.kind = b.text
	}
	return !b.marked && s.accepts(z, b.kind)
}

func (s *scanner) blockMember(b *block, z zone, from int, name []byte) {
	switch string(name) {
	case "type":
		b.kind = messageBlocks[string(s.r.Raw())]
	case "text":
		if !isBlank(s.r.Raw()) {
			b.text = textBlock
		}
	case "cache_control":
		b.marked = true
		s.addMark(z, from)
	case "content":
		s.nested(z, 1, "content")
	case "cachePoint":
		s.addPoint(z, from)
	}
}

// messageBlocks are the types of blocks that accept a mark in Anthropic's form. Not among them are
// reasoning, for which Anthropic rejects a mark, and types that came later.
// Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching, read 2026-11.
var messageBlocks = map[string]blockKind{
	`"text"`: textBlock, `"image"`: mediaBlock, `"document"`: mediaBlock,
	`"tool_use"`: toolBlock, `"tool_result"`: toolBlock, `"search_result"`: mediaBlock,
}

// converseBlocks are the same for Converse, which rejects a cache point after reasoning, and after a
// document that is not a PDF.
// Source: https://github.com/anomalyco/opencode/issues/36517, of 2026-07-12, and
// https://github.com/aws/aws-sdk-java-v2/issues/6277, of 2026-08-05.
var converseBlocks = map[string]blockKind{"text": textBlock, "image": mediaBlock, "toolUse": toolBlock, "toolResult": toolBlock}

// accepts reports whether a block of a kind can have a mark. System prompts and chat completions
// accept marks on texts only. Models that reject marks after tools may reject them after calls and
// results too.
// Source: https://openrouter.ai/docs/features/prompt-caching, read 2026-11, and
// https://github.com/BerriAI/litellm/issues/17479, of 2025-12-04.
func (s *scanner) accepts(z zone, kind blockKind) bool {
	if z == systemZone || s.rules.Form == Chat {
		return kind == textBlock
	}
	return kind == textBlock || kind == mediaBlock || kind == toolBlock && s.rules.Tools
}

// maxNesting is the maximum depth of blocks in blocks, such as texts in a tool result. Providers
// permit one level.
const maxNesting = 4

// nested reads the marks inside a block, or inside a list of blocks.
func (s *scanner) nested(z zone, depth int, name string) {
	if s.r.Kind() == '{' {
		first := len(s.marks)
		s.inside(z, depth)
		s.prefix(first, name, -1)
		return
	}
	for k := range s.r.Elements() {
		first := len(s.marks)
		s.inside(z, depth)
		s.prefix(first, name, k)
	}
}

func (s *scanner) inside(z zone, depth int) {
	from := s.offset()
	for name := range s.r.Members() {
		switch {
		case string(name) == "cache_control":
			s.addMark(z, from)
		case string(name) == "content" && depth < maxNesting:
			s.nested(z, depth+1, "content")
		}
	}
}

// isBlank reports whether a JSON string contains only white space. Providers reject marks on such
// texts.
func isBlank(raw []byte) bool {
	if len(raw) < 2 || raw[0] != '"' {
		return true
	}
	if c := raw[1]; c > ' ' && c < 0x80 && c != '\\' && c != '"' { // the usual case, without decoding
		return false
	}
	text, _ := jsonedit.Unquote(raw)
	return conversation.IsBlank(text)
}
