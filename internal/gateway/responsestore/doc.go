// Package responsestore stores the responses of POST /responses for providers that store none, and
// serves them to their workspace. Store.Begin reads what a call continues from; the Conversation
// that it returns stores the response. Start reading at Store.
package responsestore
