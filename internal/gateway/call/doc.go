// Package call contains the values of one model request that several parts of the gateway read:
// what the client asked for and what the provider gets. It has accessors and no behaviour of its
// own.
package call
