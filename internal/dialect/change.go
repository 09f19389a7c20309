package dialect

import (
	"bytes"

	"sluice/internal/dialect/jsonscan"
	"sluice/internal/kernel/jsonedit"
)

// eventRewriter changes the events of a chat or completion stream, one at a time.
type eventRewriter struct {
	enabled   bool
	hideUsage bool
	rules     ResponseRules
	swap      map[string]string // finish reasons, raw
	id        []byte            // raw; nil leaves the ids unchanged
	blocks    blockCounts       // of content_blocks

	doc   jsonedit.Doc
	edits []jsonedit.Edit
	buf   []byte
}

var nullUsage = []byte("null")

func newChanger(o *StreamOptions) eventRewriter {
	if !completes(o.Endpoint) {
		return eventRewriter{}
	}
	c := eventRewriter{hideUsage: o.HideUsage, rules: o.Rules, swap: o.Rules.swap()}
	if o.ID != "" {
		c.id = jsonedit.Quote(o.ID)
	}
	if c.rules.ContentLists {
		c.blocks = blockCounts{}
	}
	c.enabled = o.HideUsage || !c.isPattern()
	return c
}

// isPattern reports whether the changes of an event do not depend on its texts.
func (c *eventRewriter) isPattern() bool {
	return c.id == nil && len(c.swap)+len(c.rules.Extras) == 0 && c.rules.UsagePath == "" && !c.rules.ContentLists
}

// data returns the event's data to relay, or nil if it is unchanged. Drop reports that the
// complete event is omitted. The slice is valid until the next call.
func (c *eventRewriter) data(e event) (data []byte, drop bool) {
	if !c.enabled || e.end == 0 || len(e.data) == 0 || isDone(e.data) {
		return nil, false
	}
	c.edits = c.edits[:0]
	if c.hideUsage {
		if drop = c.dropUsage(e.data); drop {
			return nil, true
		}
	}
	c.edits = c.rules.flatten(c.edits, e.data, c.blocks)
	if len(c.swap)+len(c.rules.Extras) > 0 || c.rules.UsagePath != "" && !c.hideUsage {
		c.edits = c.rules.edits(c.edits, c.swap, e.data)
	}
	if c.id != nil {
		c.edits = append(c.edits, jsonedit.Set("id", c.id))
	}
	if len(c.edits) == 0 || jsonedit.Scan(e.data, &c.doc) != nil {
		return nil, false
	}
	c.buf = c.doc.AppendApply(c.buf[:0], c.edits)
	return c.buf, false
}

// dropUsage removes usage that the caller did not request. Usage in a chunk that also has a
// choice is the provider's own format and remains.
// Source: contract/dataplane.md 6.5, usage chunk.
func (c *eventRewriter) dropUsage(data []byte) (drop bool) {
	if !bytes.Contains(data, []byte(`"usage"`)) {
		return false
	}
	usage, _ := jsonedit.Find(data, "usage")
	if bytes.Equal(usage, nullUsage) {
		c.edits = append(c.edits, jsonedit.Drop("usage"))
		return false
	}
	choices, _ := jsonedit.Find(data, "choices")
	return jsonscan.IsObject(usage) && isEmptyList(choices)
}

func isEmptyList(raw []byte) bool {
	return len(raw) >= 2 && raw[0] == '[' && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
}
