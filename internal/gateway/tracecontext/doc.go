// Package tracecontext reads the trace that a request belongs to from its headers, and adds it to
// the headers of provider calls, as W3C Trace Context defines. Start reading at Read.
// Source: https://www.w3.org/TR/trace-context/.
package tracecontext
