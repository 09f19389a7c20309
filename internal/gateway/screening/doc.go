// Package screening judges the events of realtime conversations with guardrails. It holds the text of
// the provider until it is judged, replaces what guardrails redact, and ends a denied response as its
// client expects. It does not run guardrails itself: it calls a Judge. Restorer restores what reversible
// redaction hid from the provider. Start reading at Screen.
package screening
