// Package linear scores short texts by linear models over the words of a text.
//
// A text is split into sentences of plain lower-case words (Sentences). A lexicon maps words and phrases
// of several languages to concepts, such as "insult" or "group of people". The features of a window of
// sentences are its concepts, the ordered pairs of concepts, and hashed words, word pairs and parts of
// words. A model has one weight for each feature and category. Start reading at Scorer.Worst.
//
// The package does not depend on a category: packages such as moderation contain the lexicon and the weights. Weights come from
// the command in ../train.
package linear
