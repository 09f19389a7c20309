// Command train computes the weights of the classifiers from the training texts beside them, and writes the
// model files that the gateway embeds. Run it in the root of the repository:
//
//	go run ./internal/gateway/guardrails/classify/train
//
// The result depends only on the training texts, the lexicons and this program. It prints precision and
// recall of a cross-validation; the figures on texts that training does not use come from the tests of
// package classify.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"sluice/internal/gateway/guardrails/classify/corpus"
	"sluice/internal/gateway/guardrails/classify/injection"
	"sluice/internal/gateway/guardrails/classify/linear"
	"sluice/internal/gateway/guardrails/classify/moderation"
)

// task is a model to train.
type task struct {
	folder     string // below classify: lexicon.tsv and train.tsv are read, model.bin is written
	categories []string
	also       []string // files with training texts of which those without labels are negative examples, too
}

// neutral are sentences of the documentation of the gateway: technical English without any label.
const neutral = "moderation/neutral.tsv"

var tasks = []task{
	{folder: "moderation", categories: moderation.Categories(), also: []string{neutral, "injection/train.tsv"}},
	{folder: "injection", categories: injection.Categories(), also: []string{neutral, "moderation/train.tsv"}},
}

func main() {
	root := flag.String("root", "internal/gateway/guardrails/classify", "folder of package classify")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	for _, t := range tasks {
		if err := t.run(root); err != nil {
			return err
		}
	}
	return runGibberish(root)
}

func (t *task) run(root string) error {
	folder := filepath.Join(root, t.folder)
	lines, err := os.ReadFile(filepath.Join(folder, "lexicon.tsv"))
	if err != nil {
		return err
	}
	lexicon, err := linear.ReadLexicon(lines)
	if err != nil {
		return fmt.Errorf("%s: %w", t.folder, err)
	}
	texts, err := t.texts(root)
	if err != nil {
		return err
	}
	s := &linear.Scorer{Lexicon: lexicon}
	examples := make([]linear.Example, len(texts))
	for i := range texts {
		examples[i] = s.Example(texts[i].Text)
	}
	var thresholds, bias []float64
	var weights [][]float32
	for _, category := range t.categories {
		labels := make([]bool, len(texts))
		for i := range texts {
			labels[i] = texts[i].Is(category)
		}
		threshold := crossValidate(t.folder+" "+category, examples, labels)
		w := fit(examples, labels, all)
		thresholds, bias, weights = append(thresholds, threshold), append(bias, w.bias), append(weights, w.values)
	}
	return os.WriteFile(filepath.Join(folder, "model.bin"), linear.Quantise(t.categories, thresholds, bias, weights).Encode(), 0o644)
}

// texts reads the training texts, and the neutral ones of other models.
func (t *task) texts(root string) ([]corpus.Text, error) {
	list, err := corpus.Read(filepath.Join(root, t.folder, "train.tsv"))
	if err != nil {
		return nil, err
	}
	for _, file := range t.also {
		others, err := corpus.Read(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		for _, o := range others {
			if len(o.Labels) == 0 {
				list = append(list, o)
			}
		}
	}
	return list, nil
}
