package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/test/upstream"
)

// A Parquet file of the log, from the order to the bytes, over HTTP alone; and it is there
// after a restart.
func TestLogExport(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t)
	var ids []string
	for range 3 {
		g.chat(custom(up)...).want(t, 200)
	}
	eventually(t, logLimit, "the calls are in the log", func() bool { ids = g.loggedIDs(); return len(ids) == 3 })
	order := g.call("POST", "/v1/logs/exports", `{"filters":{},"requested_data":["id","request","response_status_code","created_at"],"format":"parquet","compression":"zstd"}`).want(t, 200)
	path := "/v1/logs/exports/" + order.get("id").String()
	g.call("POST", path+"/start", "").want(t, 200)
	eventually(t, logLimit, "the export is done", func() bool { return g.call("GET", path, "").get("status").String() == "success" })

	stored, err := os.ReadDir(filepath.Join(g.dir, "exports"))
	require.NoError(t, err)
	require.Len(t, stored, 1)
	g.stop()
	g = g.again()
	link := g.call("GET", path+"/download", "").want(t, 200).get("signed_url").String()
	_, query, _ := strings.Cut(link, "/file?")
	res, err := http.Get(g.base + path + "/file?" + query) // the address has the port that was set, which is any
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode, string(body))
	assert.Contains(t, res.Header.Get("Content-Disposition"), ".parquet")
	file, err := parquet.OpenFile(strings.NewReader(string(body)), int64(len(body)))
	require.NoError(t, err)
	rows := make([]parquet.Row, 10)
	n, err := file.RowGroups()[0].Rows().ReadRows(rows)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, 3, n)
	for i, row := range rows[:n] {
		assert.Equal(t, ids[i], string(row[0].ByteArray()))
		var request struct {
			Body struct {
				Model string `json:"model"`
			} `json:"body"`
		}
		require.NoError(t, json.Unmarshal(row[1].ByteArray(), &request))
		assert.NotEmpty(t, request.Body.Model)
		assert.Equal(t, int64(200), row[2].Int64())
	}
}
