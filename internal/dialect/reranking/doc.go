// Package reranking contains the requests and responses of /rerank for the providers that have it. Start
// with Endpoint, which covers those whose shapes differ only in names.
package reranking
