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
	maxEpochs, steps := epochsIn(body, auto)
	if steps {
		return 0, errSteps
	}
	for method := range Values(body, "method") {
		if len(method) > 0 && method[0] == '{' && !setsEpochs(method) {
			maxEpochs = max(maxEpochs, auto)
		}
	}
	if maxEpochs == 0 {
		maxEpochs = auto
	}
	return maxEpochs, nil
}

// setsEpochs reports whether {"type":"dpo","dpo":{…}} has epochs where that type has them.
func setsEpochs(method []byte) bool {
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
func epochsIn(val []byte, auto int64) (maxEpochs int64, steps bool) {
	for name, member := range splice.Members(val) {
		switch {
		case splice.IsNull(member), isField(name, "metadata"):
		case isOneOf(name, epochNames[:]):
			n := numberOf(member)
			if n == 0 {
				n = auto
			}
			maxEpochs = max(maxEpochs, n)
		case isOneOf(name, stepNames[:]):
			steps = steps || numberOf(member) > 0
		case member[0] == '{':
			n, counts := epochsIn(member, auto)
			maxEpochs, steps = max(maxEpochs, n), steps || counts
		}
	}
	return maxEpochs, steps
}

func isOneOf(name []byte, fields []string) bool {
	for _, field := range fields {
		if isField(name, field) {
			return true
		}
	}
	return false
}
