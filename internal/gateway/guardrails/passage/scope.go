package passage

// Scopes of hooks. Source: contract/dataplane.md 5.3 (input text).
const (
	LastMessage = "last_message" // last message or item, else prompt or input
	LastUser    = "last_user"    // last message with a text of the user
	All         = "all"
)

// Scope returns the positions of the passages in a scope; empty is LastMessage. In a request
// without messages, LastMessage and LastUser contain all texts but the instructions. All texts are
// in scope in a response, in a body with duplicate message lists and for an unknown scope, because
// none of them may hide a text.
func (b *Body) Scope(scope string) []int {
	switch {
	case b.response || b.lists > 1:
	case scope == LastUser:
		return b.lastUser()
	case scope == LastMessage || scope == "":
		return b.lastMessage()
	}
	return b.positions(func(*Passage) bool { return true })
}

func (b *Body) lastMessage() []int {
	if b.messages == 0 {
		return b.positions(func(p *Passage) bool { return p.Role != System })
	}
	return b.positions(func(p *Passage) bool { return p.Message == b.messages-1 })
}

func (b *Body) lastUser() []int {
	if b.messages == 0 {
		return b.lastMessage()
	}
	for i := len(b.passages) - 1; i >= 0; i-- {
		if last := b.passages[i]; last.Role == User && last.Message >= 0 {
			return b.positions(func(p *Passage) bool { return p.Message == last.Message })
		}
	}
	return nil
}

// positions returns the positions of the selected passages.
func (b *Body) positions(selects func(p *Passage) bool) []int {
	out := make([]int, 0, len(b.passages))
	for i := range b.passages {
		if selects(&b.passages[i]) {
			out = append(out, i)
		}
	}
	return out
}
