// Package syntax is the grammar of HTTP/1.1 that both sides of the gateway read by: the
// lines of a head, the framing of a body, chunks. It is strict, because two readers that
// see the end of a message in different places are how one caller's message is smuggled
// into another's. It does no I/O and knows neither requests nor answers.
//
// Errors are plain and say what is wrong in words that may be shown: they hold nothing
// of the message.
package syntax
