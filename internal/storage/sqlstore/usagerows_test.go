package sqlstore

import "testing"

// The statements that store what thousands of budgets used are kept prepared.
func TestUsageStatementsAreKept(t *testing.T) {
	t.Parallel()
	if n := len(plusUsageRows); n > maxStmtBytes {
		t.Errorf("%d bytes, of which %d are kept", n, maxStmtBytes)
	}
}
