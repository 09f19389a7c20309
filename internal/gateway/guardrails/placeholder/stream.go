package placeholder

import "strings"

// Stream restores values in a text that arrives in fragments, which may cut a placeholder at any
// byte. Each channel of a response, such as the text of a choice or the arguments of a tool call,
// has a Stream of its own. The fragments are decoded texts, without the quotes and escapes of their
// event. A Stream belongs to one goroutine.
type Stream struct {
	index   *index
	channel Channel
	held    string // start of a placeholder, shorter than MaxLength of the vault
}

// Stream returns a stream for a channel that restores the values which the vault contains now.
func (v *Vault) Stream(c Channel) *Stream { return &Stream{index: v.load(), channel: c} }

// Feed takes the next fragment and returns the text that is complete. It retains only an end that is
// the start of a placeholder of the vault.
func (s *Stream) Feed(fragment string) string {
	text := s.held + fragment
	if strings.IndexByte(text, '[') < 0 || len(s.index.names) == 0 {
		return text
	}
	var out []byte
	out, s.held = s.index.consume(make([]byte, 0, len(text)), text, s.channel, false)
	return string(out)
}

// Held returns the number of bytes that Feed retains.
func (s *Stream) Held() int { return len(s.held) }

// Close ends the channel and returns the text that Feed retained.
func (s *Stream) Close() string {
	text := s.held
	s.held = ""
	return text
}
