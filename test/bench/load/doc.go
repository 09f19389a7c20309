// Package load is the load generator of the benchmark: HTTP/1.1 spoken on bare
// connections, so that its own share of the machine stays small, with every answer
// read to its end and checked.
//
// A closed loop keeps each connection busy: the next request goes out when the
// answer to the last is there. A paced load sends by the clock whatever happens,
// and counts each latency from the time at which the request was due, so that a
// target which stalls cannot hide it by delaying the requests that follow.
package load
