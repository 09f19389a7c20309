// Package redis keeps the counters of limits that many nodes share, in Redis: what a call
// may take is decided there, by one script that takes all of its holds or none.
//
// # Who knows what
//
// A budget in Redis is what the store says was used, plus what nodes used and did not
// store yet, plus what calls under way hold. Of the latter two each node has a part, and
// its quota.Bank is the book of that part. So nothing that is lost in Redis, on the way
// there or on the way back has to be found out: the node states its whole part again,
// piece by piece under a new epoch, which voids what it sent before; until a piece is said
// Redis goes by what it knew of that. This is how a node comes up, how it goes on after a
// lost connection or an answer that did not come, and how Redis is filled again when it
// lost everything.
//
// # Partitions
//
// The counters of an organisation lie in one of a fixed number of partitions, each of
// which is one slot of a cluster. For each there is a goroutine that says what calls that
// ended used, one script at a time, and is a sign of life else.
//
// # Rates
//
// A rate lies in a key of its own for each window of Redis's clock, which expires.
package redis
