// Package listing has the query parameters of lists that several kinds of record use: search,
// names, tags and time ranges.
package listing
