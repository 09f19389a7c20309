package dialect

import "sluice/internal/llm"

// DeferredContent keeps what the results of tools hold that a shape has no place for in them, until a
// message of the user may have it: results of calls that were made together must stand
// together. The zero value is empty. It belongs to one request.
type DeferredContent struct{ deferredContent []deferredContent }

type deferredContent struct {
	m     *llm.Message
	parts []llm.Part
}

// Add takes parts of the results in m.
func (a *DeferredContent) Add(m *llm.Message, parts []llm.Part) {
	if len(parts) > 0 {
		a.deferredContent = append(a.deferredContent, deferredContent{m, parts})
	}
}

// Flush goes through a conversation: message writes each of its messages, and beside what the
// results before it have left, where they have ended.
func (a *DeferredContent) Flush(list []llm.Message, message func(m *llm.Message) error, writeDeferred func(m *llm.Message, parts []llm.Part) error) error {
	for i := range list {
		m := &list[i]
		if m.Role != llm.RoleTool {
			if err := a.flushPending(writeDeferred); err != nil {
				return err
			}
		}
		if err := message(m); err != nil {
			return err
		}
	}
	return a.flushPending(writeDeferred)
}

func (a *DeferredContent) flushPending(writeDeferred func(m *llm.Message, parts []llm.Part) error) error {
	list := a.deferredContent
	a.deferredContent = nil
	for _, k := range list {
		if err := writeDeferred(k.m, k.parts); err != nil {
			return err
		}
	}
	return nil
}
