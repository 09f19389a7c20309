package dialect

import "sluice/internal/fault"

// PendingToolCalls counts what a stream tells of tool calls before their names. Callers of every shape
// hear the name first, so that it waits for the name; a call whose name never comes is none.
// The zero value is ready; it belongs to one stream.
type PendingToolCalls struct{ bytes int }

// Bounds of what a stream may make the gateway keep of calls without a name.
const (
	maxPendingBytes       = 32 << 20
	fragmentOverheadBytes = 16 // bytes that each piece takes beside its own
)

// Add puts a piece behind those of its call that wait; an empty one is left out.
func (e *PendingToolCalls) Add(fragments *[]string, fragment string) {
	if fragment != "" {
		*fragments = append(*fragments, fragment)
		e.bytes += len(fragment) + fragmentOverheadBytes
	}
}

// Take returns the pieces of a call whose name has come, and keeps them no longer.
func (e *PendingToolCalls) Take(fragments *[]string) []string {
	list := *fragments
	*fragments = nil
	for _, p := range list {
		e.bytes -= len(p) + fragmentOverheadBytes
	}
	return list
}

// Bounded is fault.UpstreamInvalid when too much waits.
func (e *PendingToolCalls) Bounded() error {
	if e.bytes > maxPendingBytes {
		return fault.Newf(fault.UpstreamInvalid, "the provider sent more than %d bytes of tool calls without a name", maxPendingBytes)
	}
	return nil
}
