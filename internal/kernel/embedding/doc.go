// Package embedding turns a sentence into a vector of 128 numbers, inside the process and within
// microseconds. The cosine of two vectors measures how similar the sentences are.
//
// The vectors come from the vocabulary of all-MiniLM-L6-v2: each entry has one vector, and a
// sentence is their mean. Word order and negation therefore hardly count: "is it safe" and "is it
// not safe" have a cosine of 0.99. Do not decide by a cosine alone. The vocabulary is English;
// texts in other languages get vectors too, but these compare spelling more than meaning.
//
// Begin at Model.Embed. tokenizer.go splits a text as uncased BERT does, vocabulary.go finds the
// entries. Folder data contains the model and its licence; golden.json is the test of both.
package embedding
