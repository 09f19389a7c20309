package conversation

import "sluice/internal/kernel/llm"

// DeferredContent buffers tool-result content that the target's results cannot contain, until the
// next user message. It must wait, because the results of parallel calls must be adjacent. The
// zero value is empty. It belongs to one request.
type DeferredContent struct{ deferredContent []deferredContent }

type deferredContent struct {
	m     *llm.Message
	parts []llm.Part
}

// Add defers parts of the results in m.
func (a *DeferredContent) Add(m *llm.Message, parts []llm.Part) {
	if len(parts) > 0 {
		a.deferredContent = append(a.deferredContent, deferredContent{m, parts})
	}
}

// Flush iterates over a conversation. It calls message for each message. After the last of
// consecutive results, it calls writeDeferred for their deferred content.
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
