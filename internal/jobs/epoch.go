package jobs

import (
	"errors"

	"sluice/internal/splice"
)

// epochNames are the names that providers have for how often training goes through its files.
var epochNames = [...]string{"n_epochs", "epochs", "num_epochs", "epoch_count", "train_epochs", "num_train_epochs", "max_epochs"}

// stepNames count steps, each of as many tokens as the provider chooses.
var stepNames = [...]string{"training_steps", "train_steps", "max_steps"}

// errSteps is why a training has no known maximum.
var errSteps = errors.New("training_steps counts steps whose size the provider chooses; send the number of epochs")

// Epochs is how often training goes through its files at most: the largest number that its
// description has anywhere. auto is that of a provider that chooses it, as it does where the
// description does not say it, says "auto", or leaves it out of the method that it asks for.
// It fails for a description that counts steps.
func Epochs(body []byte, auto int64) (int64, error) {
	most, steps := epochsIn(body, auto)
	if steps {
		return 0, errSteps
	}
	for method := range Values(body, "method") {
		if len(method) > 0 && method[0] == '{' && !saysEpochs(method) {
			most = max(most, auto)
		}
	}
	if most == 0 {
		most = auto
	}
	return most, nil
}

// saysEpochs reports whether {"type":"dpo","dpo":{…}} has epochs where that type has them.
func saysEpochs(method []byte) bool {
	for raw := range Values(method, "type") {
		name, _ := splice.Unquote(raw)
		for val := range Values(method, name) {
			if n, _ := epochsIn(val, 1); n > 0 {
				return true
			}
		}
	}
	return false
}

// epochsIn walks all objects of a value but for the caller's own notes.
func epochsIn(val []byte, auto int64) (most int64, steps bool) {
	for name, below := range splice.Members(val) {
		switch {
		case splice.IsNull(below), isField(name, "metadata"):
		case isOneOf(name, epochNames[:]):
			n := numberOf(below)
			if n == 0 {
				n = auto
			}
			most = max(most, n)
		case isOneOf(name, stepNames[:]):
			steps = steps || numberOf(below) > 0
		case below[0] == '{':
			n, counts := epochsIn(below, auto)
			most, steps = max(most, n), steps || counts
		}
	}
	return most, steps
}

func isOneOf(name []byte, fields []string) bool {
	for _, field := range fields {
		if isField(name, field) {
			return true
		}
	}
	return false
}
