// Package syntax is the HTTP/1.1 grammar that both sides of the gateway use: header lines
// (Lines), the framing of a body (Framing) and chunks (Chunks). It is strict, because
// request smuggling needs two readers that disagree about where a message ends. It does no
// I/O, and does not depend on requests or responses.
//
// The texts of errors may be shown to users: they describe the fault and do not contain any
// part of the message.
package syntax
