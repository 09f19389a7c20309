package keys_test

import (
	"testing"

	"sluice/internal/domain/keys"
)

func BenchmarkSum(b *testing.B) {
	h := keys.NewHasher([]byte("pepper"))
	b.ReportAllocs()
	for b.Loop() {
		h.Sum("sk-0123456789012345678901234567890123456789")
	}
}
