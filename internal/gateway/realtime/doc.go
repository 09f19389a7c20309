// Package realtime relays WebSocket conversations between a client and a provider. The gateway
// authenticates the client, opens the provider's socket with Dial and calls Relay.Run; a Meter
// sees each event and may refuse it, and a Guard decides what is sent in its place. Start reading at
// Relay.Run.
package realtime
