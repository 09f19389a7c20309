package wordguard_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"sluice/internal/gateway/cache/semantic/wordguard"
	"sluice/internal/kernel/embedding"
)

// pair is a line of a file of pairs.
type pair struct {
	kind, stored, current string
	same                  bool
	cosine                float32
}

// readPairs reads lines "kind, text, text". Pairs of one meaning have a kind that begins with "same".
func readPairs(t *testing.T, file string) []pair {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []pair
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 3 {
			t.Fatalf("%s: %q has %d fields, want 3", file, lines.Text(), len(fields))
		}
		a, _ := embedding.Load().Embed(fields[1])
		b, _ := embedding.Load().Embed(fields[2])
		out = append(out, pair{fields[0], fields[1], fields[2], strings.HasPrefix(fields[0], "same"), embedding.Cosine(&a, &b)})
	}
	return out
}

// count returns how many pairs of one meaning and how many traps a cache would serve.
func count(pairs []pair, threshold float32, guarded bool) (right, falseHits int) {
	for _, p := range pairs {
		if p.cosine < threshold || guarded && wordguard.Compare(p.stored, p.current) != wordguard.Equal {
			continue
		}
		if p.same {
			right++
		} else {
			falseHits++
		}
	}
	return right, falseHits
}

func TestCompare_ServesNoTrapOfTheKnownPairs(t *testing.T) {
	t.Parallel()
	pairs := readPairs(t, "testdata/pairs.tsv")
	for _, p := range pairs {
		result := wordguard.Compare(p.stored, p.current)
		if p.same != (result == wordguard.Equal) {
			t.Logf("%s %.2f: %q | %q: %s", p.kind, p.cosine, p.stored, p.current, result)
		}
	}
	for _, threshold := range []float32{0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.6, 0.5, -1} {
		right, falseHits := count(pairs, threshold, true)
		t.Logf("threshold %.2f: %d right, %d false", threshold, right, falseHits)
	}
}
