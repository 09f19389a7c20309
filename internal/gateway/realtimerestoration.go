package gateway

import (
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/guardrails/passage"
	"sluice/internal/gateway/realtime"
	"sluice/internal/gateway/screening"
)

// restoreConversation returns a guard that also restores the values that the caller sent on the WebSocket,
// or in an earlier call of its trace, in the events that the client receives. Without reversible redaction
// it returns the guard itself.
func (s *guardrailStep) restoreConversation(a *attempt, guard realtime.Guard) realtime.Guard {
	if a.vault == nil || guard == nil {
		return guard
	}
	return screening.NewRestorer(guard, a.vault, func(event []byte) []byte { return guardrails.Restore(a.vault, passage.Realtime, event) })
}
