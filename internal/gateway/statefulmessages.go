package gateway

import (
	"github.com/tidwall/gjson"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
)

// rejectStatefulThread refuses a message of a thread when the target's provider does not support
// threads. The earlier turns are stored on Anthropic's servers, so the provider would respond to
// the last turn alone, and the caller would not notice. The error code makes Anthropic's clients
// send the complete conversation, now and in later calls.
// Source: @anthropic-ai/sdk 1.14.0, lib/internal/threads/ThreadState; Claude Code from 2.1.265.
func (sh *shaper) rejectStatefulThread(a *attempt) error {
	if a.x.match.Endpoint != llm.Messages || a.x.doc == nil || sh.rules.lookup(a.plan).request.Threads {
		return nil
	}
	if t := a.params().Value("thread"); !t.Exists() || t.Type == gjson.Null {
		return nil
	}
	return fault.Newf(fault.InvalidParameter, "%s does not support threads; send the complete conversation without thread", a.spec.ID).WithType("", "thread_unsupported_request").WithParam("thread")
}
