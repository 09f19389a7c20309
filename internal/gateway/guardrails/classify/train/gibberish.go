package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/pemistahl/lingua-go/serialization"
	"golang.org/x/text/unicode/norm"
	"google.golang.org/protobuf/proto"

	"sluice/internal/gateway/guardrails/classify/corpus"
	"sluice/internal/gateway/guardrails/classify/gibberish"
)

// latinLanguages are the languages whose sequences of letters are no gibberish, as lingua names its models.
const latinLanguages = "en es pt id fr de tr it pl vi nl sv cs ro da fi nb nn hu ca ms hr sk lt lv sl et tl az sq eu ga is cy la sw af bs mi so"

const alphabet = gibberish.Letters

// runGibberish computes the table of letter sequences and the weights of its features.
func runGibberish(root string) error {
	table, err := trigramTable()
	if err != nil {
		return fmt.Errorf("gibberish table: %w", err)
	}
	folder := filepath.Join(root, "gibberish")
	texts, err := corpus.Read(filepath.Join(folder, "train.tsv"), filepath.Join(root, neutral), filepath.Join(root, "moderation", "train.tsv"), filepath.Join(root, "injection", "train.tsv"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "trigrams.bin"), table, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "model.bin"), fitGibberish(table, texts), 0o644)
}

// fitGibberish trains logistic regression by plain gradient descent, and returns the binary form of the
// model. Gibberish counts as much as the other texts together.
func fitGibberish(table []byte, texts []corpus.Text) []byte {
	examples, positive := make([]gibberish.Features, len(texts)), 0.0
	for i := range texts {
		examples[i] = gibberish.Example(table, texts[i].Text)
		if texts[i].Is("gibberish") {
			positive++
		}
	}
	heavy := (float64(len(texts)) - positive) / positive
	var w gibberish.Features
	bias := 0.0
	for range 4000 {
		var step gibberish.Features
		shift := 0.0
		for i := range texts {
			gradient := likelihood(&w, bias, &examples[i])
			if texts[i].Is("gibberish") {
				gradient = (gradient - 1) * heavy
			}
			shift += gradient
			for k, v := range examples[i] {
				step[k] += gradient * v
			}
		}
		n := float64(len(texts))
		bias -= 2 * shift / n
		for k := range w {
			w[k] -= 2 * (step[k]/n + 1e-4*w[k])
		}
	}
	threshold := gibberishThreshold(&w, bias, examples, texts)
	var out []byte
	for _, v := range append([]float64{threshold, bias}, w[:]...) {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
	}
	fmt.Printf("gibberish weights %.2f, bias %.2f\n", w, bias)
	return out
}

func likelihood(w *gibberish.Features, bias float64, e *gibberish.Features) float64 {
	z := bias
	for k, v := range e {
		z += w[k] * v
	}
	return 1 / (1 + math.Exp(-z))
}

// gibberishThreshold returns the threshold that does best on the training texts.
func gibberishThreshold(w *gibberish.Features, bias float64, examples []gibberish.Features, texts []corpus.Text) float64 {
	scores, labels := make([]float64, len(texts)), make([]bool, len(texts))
	for i := range texts {
		scores[i], labels[i] = likelihood(w, bias, &examples[i]), texts[i].Is("gibberish")
	}
	best, at := -1.0, 0.5
	for t := 0.5; t <= 0.95; t += 0.05 {
		if p, r := measure(scores, labels, t); 1.25*p*r/(0.25*p+r+1e-9) > best {
			best, at = 1.25*p*r/(0.25*p+r+1e-9), t
		}
	}
	p, r := measure(scores, labels, at)
	fmt.Printf("%-36s threshold %.2f, on the training texts precision %.3f, recall %.3f\n", "gibberish", at, p, r)
	return at
}

// trigramTable returns the cost of each sequence of three letters, from the models of lingua.
func trigramTable() ([]byte, error) {
	out, err := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/pemistahl/lingua-go").Output()
	if err != nil {
		return nil, fmt.Errorf("find the module lingua-go: %w", err)
	}
	folder := filepath.Join(strings.TrimSpace(string(out)), "language-models")
	highest := make([]float64, alphabet*alphabet*alphabet)
	for language := range strings.FieldsSeq(latinLanguages) {
		joint, err := jointProbabilities(filepath.Join(folder, language))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", language, err)
		}
		for i, p := range joint {
			highest[i] = max(highest[i], p)
		}
	}
	table := make([]byte, len(highest))
	for i, p := range highest {
		table[i] = byte(min(255, max(0, math.Round(-8*math.Log2(p+1e-12)))))
	}
	return table, nil
}

// jointProbabilities returns how often each sequence of three plain letters occurs in a language. The models
// have the probability of each last letter after the letters before it.
func jointProbabilities(folder string) ([]float64, error) {
	known := map[string]float64{"": 1}
	for _, name := range []string{"unigrams", "bigrams", "trigrams"} {
		model, err := readModel(filepath.Join(folder, name+".pb.bin.zip"))
		if err != nil {
			return nil, err
		}
		for _, set := range model.GetNgramSets() {
			for _, ngram := range set.GetNgrams() {
				runes := []rune(ngram)
				known[ngram] = known[string(runes[:len(runes)-1])] * set.GetProbability()
			}
		}
	}
	out := make([]float64, alphabet*alphabet*alphabet)
	for ngram, p := range known {
		if i := position(ngram); i >= 0 {
			out[i] += p
		}
	}
	return out, nil
}

// position returns the place of three letters in the table, without their accents; -1 for others.
func position(ngram string) int {
	n, at := 0, 0
	for _, r := range norm.NFD.String(strings.ToLower(ngram)) {
		switch {
		case r >= 'a' && r <= 'z':
			at = at*alphabet + int(r-'a')
			n++
		case r < 0x300 || r > 0x36F:
			return -1
		}
	}
	if n != 3 {
		return -1
	}
	return at
}

func readModel(name string) (*serialization.SerializableLanguageModel, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, err
	}
	f, err := z.File[0].Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	model := new(serialization.SerializableLanguageModel)
	return model, proto.Unmarshal(data, model)
}
