// Package destination protects stored credentials. It defines which fields decide where a
// credential is sent, and who may sign with the identity of the gateway's machine.
package destination
