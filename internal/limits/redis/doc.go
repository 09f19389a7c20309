// Package redis stores, in Redis, the counters of limits that several nodes share. One script
// decides there about a call: it takes all holds of the call or none. Start reading at
// Limiter; partition.go shows how a node keeps Redis up to date.
//
// # Shares of the store and the nodes
//
// The value of a budget in Redis is the sum of three amounts: the usage in the store, the usage
// that nodes have not stored yet, and the holds of calls in progress. Each node has a share of
// the latter two, which its quota.Limiter counts. Therefore no node has to find out what was
// lost in Redis or on the network in either direction. It states its complete share again, in
// batches under a new epoch. The new epoch invalidates everything that the node sent before.
// Until a batch arrives, Redis uses the values it had for the counters of that batch. A node
// does this when it starts, when it reconnects, when a response is missing, and when Redis
// lost all data.
//
// A budget that is missing in Redis is created by the node that takes from it, from the current
// value in the store. Redis rejects that value if a node meanwhile reported that the store has
// another one.
//
// # Periods
//
// A budget counts the usage after its last reset. That is either the reset in the store or a
// later scheduled reset, which the node that takes from the budget sends. A value of the store
// therefore counts only if the store has that reset. Usage that is not stored has dates: each
// node reports the time of its latest usage, and how much of its share is older than the last
// reset that it has received. Redis computes the value of a budget from these dates whenever
// the budget is created or reset. The result does not depend on which node comes first and how
// much was stored by then. Usage without a date counts until it is stored. If the store counted
// usage after a reset and does not have that reset, the reset did not happen.
//
// # Partitions
//
// The counters of an organisation are in one of a fixed number of partitions. Each partition is
// one slot of a Redis cluster. One goroutine per partition reports the changes of ended calls,
// one script at a time. Without changes the script is a heartbeat.
//
// # Rates
//
// A rate has a key of its own for each window of Redis's clock. The key expires.
package redis
