// Package outbox writes emails into the outbox, in the transaction of the event that they report,
// and finds their recipients. A job of the area people sends them.
package outbox
