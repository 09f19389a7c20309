package clickhouse_test

import (
	"flag"
	"os"
	"testing"

	"sluice/internal/storage/journal/killtest"
)

// examples is how many random examples a property is tried with, unless the command line
// says otherwise: each is some dozens of statements, which the peer runs one after the other.
const examples = "20"

func TestMain(m *testing.M) {
	killtest.Child(storeUntilKilled)
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "rapid.checks" })
	if !chosen {
		if err := flag.Set("rapid.checks", examples); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
