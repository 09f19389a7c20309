// Package cache contains the parts of the response cache. It has no code of its own: the gateway
// connects the parts.
//
//   - cachekey computes the key of a call: who may share a response, and what it depends on.
//   - entry is what is stored, its encoding, and the decision which responses may be stored.
//   - store declares the interface of stores, and is the store in memory. diskstore and redisstore
//     are the others. lru and timebox are parts of them; storetest is the test suite of all.
//   - flight lets equal calls that run at the same time reach the provider once.
//   - replay assembles the stream of a miss, and builds the response to a hit.
//
// The life of a call: cachekey.Compute, Store.Get, and for a hit replay.JSON or replay.Stream. For a
// miss, Group.Enter of flight. Its leader looks into the store again and calls the provider. It
// assembles the response, checks it with entry.Storable, and calls Store.Put and Turn.Share. The
// example of this package shows it.
//
// Embeddings are cached by complete request: a call with one known and two new texts is a miss, so
// every vector is at the index at which the provider put it, and each text is billed as the
// provider bills it.
package cache
