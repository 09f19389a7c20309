// Package mail is what is told to people by e-mail. A message is a record of the
// outbox, written with the change that it tells of, and sent by a worker.
package mail

// Kind is the kind of the stored record of a message.
const Kind = "mail"

// The statuses of a message.
const (
	Pending = "pending"
	Sent    = "sent"
	Failed  = "failed" // given up
)

// Message is the stored body of a message.
// Source: contract/identity-and-governance.yaml, emails.
type Message struct {
	Template string            `json:"template"` // "user-invite"
	To       []string          `json:"to"`
	Vars     map[string]string `json:"vars"`
}
