package replay

import (
	"bytes"

	"sluice/internal/kernel/jsonedit"
)

// response assembles the events of a response of the Responses API: its last event contains the
// complete response.
type response struct {
	*builder
	raw []byte
}

// event implements assembly.
func (r *response) event(data []byte) {
	switch jsonedit.Text(data, "type") {
	case "response.completed", "response.incomplete", "response.failed":
		if raw, _ := jsonedit.Find(data, "response"); r.add(len(raw)) {
			r.raw = bytes.Clone(raw)
		}
	}
}

// end implements assembly. Some servers send [DONE] after the last event.
func (r *response) end() {}

// body implements assembly.
func (r *response) body() ([]byte, bool) { return r.raw, r.raw != nil }
