package routing

import (
	"hash/maphash"
	"strconv"
)

// destinationSeed makes destinations unpredictable: they are hashes of credentials, too.
var destinationSeed = maphash.MakeSeed()

// Destination identifies where the target sends calls: its provider, credentials, host and model. It is
// the same for equal targets of all configs and versions of a config, in this process. It reveals
// nothing of the credentials.
func (t *Target) Destination() string {
	sum := uint64(len(t.Fields))
	for name, value := range t.Fields { // a sum does not depend on their order
		sum += hashOf(name, value)
	}
	sum += hashOf("provider", t.Provider, t.VirtualKey, t.CustomHost, t.APIKey.Reveal(), t.PromptID)
	for i, params := range [...][]Param{t.Default, t.Override} {
		for _, p := range params {
			if p.Key == "model" {
				sum += hashOf(strconv.Itoa(i), string(p.Raw))
			}
		}
	}
	return strconv.FormatUint(sum, 36)
}

// hashOf hashes texts with their lengths.
func hashOf(texts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(destinationSeed)
	for _, text := range texts {
		maphash.WriteComparable(&h, len(text))
		_, _ = h.WriteString(text)
	}
	return h.Sum64()
}
