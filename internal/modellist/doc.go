// Package modellist caches the model lists of providers whose models the catalog does not
// know, such as local servers. Lists.Names answers from the cache and queues a refresh; the
// workers of Lists.Run make the calls. Start reading at Lists.Names.
package modellist
