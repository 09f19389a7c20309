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
// A budget that is not there is made by whoever takes from it, of what the store says then,
// and only if no node told meanwhile that the store has something else.
//
// # Periods
//
// A budget counts what was used behind its last reset: that which the store has, or one by
// schedule that has come since, of which whoever takes knows. So what the store says counts
// only when it has that reset, and what nodes used and did not store is dated: each says when
// the last of its part was used, and how much of that lies before the last reset that it
// knows. From that, what counts is worked out in the same way whenever a budget is made or
// begins anew, whoever comes first, and however much of it was stored by then; what nobody
// can date counts until it is stored. A reset behind which the store counted something
// without having it never was.
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
