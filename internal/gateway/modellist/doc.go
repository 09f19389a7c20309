// Package modellist lists the models that a caller can use, and caches the model lists of
// providers whose models are not in the catalog, such as local servers. Start reading at
// Lister.List; Lists.Names reads the cache, and the workers of Lists.Run call the providers.
package modellist
