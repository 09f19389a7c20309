package tokens

import (
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// vocabularyName is one of the vocabularies that are built in.
type vocabularyName uint8

// The vocabularies of OpenAI: that of GPT-4o and all later models, and that of GPT-4,
// GPT-3.5 and the embeddings.
const (
	o200k vocabularyName = iota
	cl100k
)

// vocabulary splits text. Safe for concurrent use.
type vocabulary struct{ codec *codec.Codec }

func newO200k() *vocabulary  { return &vocabulary{codec.NewO200kBase()} }
func newCL100k() *vocabulary { return &vocabulary{codec.NewCl100kBase()} }

// chunkBytes is how much text the splitter gets at once: it keeps four bytes and more for
// each of the text's.
const chunkBytes = 4 << 10

// tokens is the number of tokens of s. Words of control such as <|endoftext|> are text
// like any other, as they are to the providers.
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
	if err != nil { // its pattern has no time limit and every text matches: cannot happen
		return int64(len(s))
	}
	return int64(n)
}

// splitPoint is where to cut the first chunk off. Between a letter and white space no token
// spans, so cuts there change nothing; where a chunk has no such place, one is made
// between two characters, at the price of a token at most.
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
