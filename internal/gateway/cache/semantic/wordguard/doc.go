// Package wordguard decides from the words of two questions whether the stored response to one may
// be served for the other. It is the second half of a semantic cache: vectors of "is it safe" and
// "is it not safe" are almost equal, and no cosine separates them.
//
// Compare reduces both texts to the question they contain and the words that count, in an order that
// does not depend on the phrasing: "What is the language of the app?" and "the app's language?"
// become the same. Two texts are equal if every word of one has a counterpart in the other: the same
// word, an inflection of it, or a synonym of the lexicon. Numbers, negations, names, prepositions of
// direction, signs and quoted text must be the same. In doubt the texts differ: a miss costs one
// call, a false hit is a wrong response.
//
// The lexicons are English, German and Spanish. In another language only case, spaces and
// punctuation may differ. Begin at Compare; lexicon.go describes the files of folder lexicon.
package wordguard
