// Package modellist caches the model lists of providers whose models are not in the catalog,
// such as local servers. Lists.Names reads the cache and queues a refresh; the workers of
// Lists.Run make the calls. Start reading at Lists.Names.
package modellist
