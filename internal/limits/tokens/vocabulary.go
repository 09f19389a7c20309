package tokens

import (
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// vocabularyName is the name of a built-in vocabulary.
type vocabularyName uint8

// These are the vocabularies of OpenAI: that of GPT-4o and all later models, and that of
// GPT-4, GPT-3.5 and the embeddings.
const (
	o200k vocabularyName = iota
	cl100k
)

// vocabulary splits text into tokens. It is safe for concurrent use.
type vocabulary struct{ codec *codec.Codec }

func newO200k() *vocabulary  { return &vocabulary{codec.NewO200kBase()} }
func newCL100k() *vocabulary { return &vocabulary{codec.NewCl100kBase()} }

// chunkBytes is how much text the splitter gets at once. It needs at least four bytes of
// memory for each byte of text.
const chunkBytes = 4 << 10

// tokens returns the number of tokens of s. Control tokens such as <|endoftext|> count as
// plain text, as they do at the providers.
func (v *vocabulary) tokens(s string) int64 {
	var n int64
	for len(s) > 0 {
		cut := splitPoint(s)
		n += v.chunk(s[:cut])
		s = s[cut:]
	}
	return n
}

func (v *vocabulary) chunk(s string) int64 {
	n, err := v.codec.Count(s)
	if err != nil { // cannot happen: its pattern has no time limit and matches every text
		return int64(len(s))
	}
	return int64(n)
}

// splitPoint returns where the first chunk ends. No token spans a letter and the white space
// next to it, so cuts there change nothing. If a chunk has no such position, it is cut between
// two characters, which costs at most one token.
func splitPoint(s string) int {
	if len(s) <= chunkBytes {
		return len(s)
	}
	for i := chunkBytes; i > chunkBytes/2; i-- {
		if isSpace(s[i]) && s[i-1] < utf8.RuneSelf && unicode.IsLetter(rune(s[i-1])) {
			return i
		}
	}
	cut := chunkBytes
	for cut > chunkBytes-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return cut
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
