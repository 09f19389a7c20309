// Package mail contains the emails of the gateway and their templates. A message is a record of
// the outbox. The transaction of a change writes it, and a job sends it later. So no message is
// lost, and none reports a change that did not happen. Start reading at Message.
package mail

import (
	"maps"
	"time"
)

// Kind is the kind of the stored record of a message.
const Kind = "mail"

// The statuses of a message: pending -> sending -> sent, or back to pending after a
// try that failed, or failed.
const (
	Pending = "pending"
	Sending = "sending" // handed to the mail server; whether it took it is not known yet
	Sent    = "sent"
	Failed  = "failed" // given up
)

// Message is the stored body of a message.
// Source: contract/identity-and-governance.yaml, emails.
type Message struct {
	Template string            `json:"template"` // "user-invite"; one of Templates
	To       []string          `json:"to"`       // in the outbox one address each
	Vars     map[string]string `json:"vars"`
	// Sealed are the variables that open something, as a JSON object, sealed under
	// Context. It is dropped when the message was sent or given up.
	Sealed []byte `json:"sealed,omitempty"`

	Tries  int        `json:"tries,omitempty"`
	Next   *time.Time `json:"next_try_at,omitempty"` // not before; nil for at once
	SentAt *time.Time `json:"sent_at,omitempty"`
	Error  string     `json:"error,omitempty"` // of the last try
	// Cut counts the tries whose end nobody saw, because the gateway died.
	Cut int `json:"cut,omitempty"`
}

// Context is what the sealed variables of a message are bound to.
func Context(recordID string) string { return Kind + "/" + recordID }

// Shown are the variables as people may see them in the outbox: those that open
// something are "***".
func (m *Message) Shown(hidden string) map[string]string {
	shown := maps.Clone(m.Vars)
	if shown == nil {
		shown = map[string]string{}
	}
	for _, name := range secrets {
		if _, there := shown[name]; there || len(m.Sealed) > 0 && takes(m.Template, name) {
			shown[name] = hidden
		}
	}
	return shown
}

// The rules of sending.
const (
	// Life is how long a message may wait: an older one is out of date.
	Life = 3 * 24 * time.Hour
	// Retention is how long a message is kept in the outbox after its end.
	Retention = 30 * 24 * time.Hour
	// Limit bounds one try, from the connection to the answer of the server.
	Limit = 30 * time.Second
	// Doubt is after what time nobody can still be at a try that has begun.
	Doubt = 2 * time.Minute
	// maxCut is how often a message is tried again after a try whose end nobody saw: a
	// receiver gets it at most twice, with the same Message-ID.
	maxCut = 1
)

// waits are the pauses after the first, second, … failed try; after the last one the
// message is given up.
var waits = []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour}

// Due reports whether a message with a stored status is to be tried now. It was put
// into the outbox at made, and last written at changed.
func (m *Message) Due(status string, changed, now time.Time) bool {
	switch status {
	case Pending:
		return m.Next == nil || !now.Before(*m.Next)
	case Sending:
		return now.Sub(changed) >= Doubt
	}
	return false
}

// StartDelivery notes that a try begins, and returns the status that goes with it: Sending, or
// Failed for a message that is too old or whose fate was unknown too often.
func (m *Message) StartDelivery(status string, made, now time.Time) string {
	if status == Sending {
		m.Cut++
	}
	switch {
	case m.Cut > maxCut:
		return m.fail("the gateway stopped while sending the email; it may have been delivered")
	case now.Sub(made) > Life:
		return m.fail("the email was not sent in time")
	}
	m.Tries++
	m.Next = nil
	return Sending
}

// Done notes that the server took the message.
func (m *Message) Done(now time.Time) string {
	m.SentAt, m.Error, m.Sealed = &now, "", nil
	return Sent
}

// DeliveryFailed notes that a try failed; with final set no other one follows.
func (m *Message) DeliveryFailed(reason string, final bool, now time.Time) string {
	if final || m.Tries > len(waits) {
		return m.fail(reason)
	}
	next := now.Add(waits[max(m.Tries, 1)-1])
	m.Next, m.Error = &next, reason
	return Pending
}

func (m *Message) fail(reason string) string {
	m.Error, m.Next, m.Sealed = reason, nil, nil
	return Failed
}
