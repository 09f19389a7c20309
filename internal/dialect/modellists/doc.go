// Package modellists reads the lists of models that providers return and writes them in OpenAI's shape.
package modellists
