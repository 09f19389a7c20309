package requestlogtest_test

import (
	"testing"

	"sluice/internal/storage/requestlog"
	"sluice/internal/storage/requestlog/requestlogtest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	requestlogtest.Run(t, func(testing.TB) requestlog.RowStore { return new(requestlogtest.Memory) })
}
