package toolcalls

import "sluice/internal/kernel/fault"

// PendingToolCalls counts the stream data of tool calls that arrives before their names. Clients of
// every shape read the name first, so the data waits for it. A call whose name never arrives is
// dropped. The zero value is ready; it belongs to one stream.
type PendingToolCalls struct{ bytes int }

// Limits of the data that the gateway buffers for calls without a name.
const (
	maxPendingBytes       = 32 << 20
	fragmentOverheadBytes = 16 // bytes that each fragment takes in addition to its text
)

// Add appends a fragment to the waiting ones of its call. It ignores an empty fragment.
func (e *PendingToolCalls) Add(fragments *[]string, fragment string) {
	if fragment != "" {
		*fragments = append(*fragments, fragment)
		e.bytes += len(fragment) + fragmentOverheadBytes
	}
}

// Take returns and removes the fragments of a call whose name has arrived.
func (e *PendingToolCalls) Take(fragments *[]string) []string {
	list := *fragments
	*fragments = nil
	for _, p := range list {
		e.bytes -= len(p) + fragmentOverheadBytes
	}
	return list
}

// Bounded is fault.UpstreamInvalid if too much data waits.
func (e *PendingToolCalls) Bounded() error {
	if e.bytes > maxPendingBytes {
		return fault.Newf(fault.UpstreamInvalid, "the provider sent more than %d bytes of tool calls without a name", maxPendingBytes)
	}
	return nil
}
