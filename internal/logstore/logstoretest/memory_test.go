package logstoretest_test

import (
	"testing"

	"sluice/internal/logstore"
	"sluice/internal/logstore/logstoretest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	logstoretest.Run(t, func(testing.TB) logstore.RowStore { return new(logstoretest.Memory) })
}
