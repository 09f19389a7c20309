package main

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Who is told to stop while starting has not failed.
func TestStoppedWhileStarting(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	s := &settings{DataDir: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0"}
	assert.NoError(t, run(ctx, s, false))

	s.Set = map[string]string{"ENCRYPTION_KEY": "short"}
	assert.Error(t, run(ctx, s, false), "what is wrong is said all the same")
}
