package providerjob

import (
	"errors"

	"sluice/internal/kernel/jsonedit"
)

// epochNames are the names that providers use for the number of training epochs.
var epochNames = [...]string{"n_epochs", "epochs", "num_epochs", "epoch_count", "train_epochs", "num_train_epochs", "max_epochs"}

// stepNames are the names of step counts. The provider chooses the number of tokens in a step.
var stepNames = [...]string{"training_steps", "train_steps", "max_steps"}

// errSteps is the error for a training whose maximum is not known.
var errSteps = errors.New("training_steps counts steps whose size the provider chooses; send the number of epochs")

// Epochs returns the maximum number of training epochs: the largest number anywhere in the
// description. auto is the number if the provider chooses it, which it does if the description
// omits it, contains "auto", or omits it in the requested method. Epochs fails for a
// description that counts steps.
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

// setsEpochs reports whether {"type":"dpo","dpo":{…}} sets epochs in the object of its type.
func setsEpochs(method []byte) bool {
	for raw := range Values(method, "type") {
		name, _ := jsonedit.Unquote(raw)
		for val := range Values(method, name) {
			if n, _ := epochsIn(val, 1); n > 0 {
				return true
			}
		}
	}
	return false
}

// epochsIn searches all objects of a value except the caller's metadata.
func epochsIn(val []byte, auto int64) (maxEpochs int64, steps bool) {
	for name, member := range jsonedit.Members(val) {
		switch {
		case jsonedit.IsNull(member), isField(name, "metadata"):
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
