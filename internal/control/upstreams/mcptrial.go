package upstreams

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"sluice/internal/control/resource"
	"sluice/internal/control/resource/jsonfield"
	"sluice/internal/domain/mcp"
	"sluice/internal/kernel/sealed"
)

// protocolVersion is the version of the Model Context Protocol that a trial requests. Servers
// respond with the version that they use.
const protocolVersion = "2025-06-18"

// testMCPServer initializes a session with an upstream server as any client does, and stores the
// server's self-description. It uses the secrets that the workspace may use or, if workspaceID
// is empty, those of the organisation. For an older server with a stream of events, it only
// opens the stream.
func (k mcpServers) testMCPServer(ctx context.Context, c *resource.Call, r *resource.Row[mcp.Integration], workspaceID string, v trialView) (any, error) {
	v.URL = new(sealed.Address(r.Value.URL))
	header, err := k.kind().headers(ctx, c, r, workspaceID)
	if err != nil {
		v.setOutcome(outcome{}, err)
		return v, nil
	}
	t := trial{method: http.MethodGet, url: r.Value.URL, header: header, maxBytes: maxTrialBytes}
	header.Set("Accept", eventStream)
	if r.Value.Transport == mcp.HTTP {
		t.method, t.body, t.isComplete = http.MethodPost, k.initialize(), func(data []byte) bool { return readInitialized(data) != nil }
		header.Set("Accept", "application/json, "+eventStream)
		header.Set("Content-Type", "application/json")
	}
	out, err := prober(k).try(ctx, t)
	v.setOutcome(out, err)
	var response *initialized
	switch {
	case !v.Success:
	case r.Value.Transport == mcp.SSE && out.kind != eventStream:
		v.fails("the server does not return an event stream; set transport to http if it uses Streamable HTTP")
	case r.Value.Transport == mcp.HTTP:
		if response = readInitialized(out.body); response == nil || response.Result == nil {
			v.fails("the server does not respond as the Model Context Protocol requires")
		}
	}
	if v.Success && response != nil {
		v.ServerName = response.name(v.ServerName)
	}
	k.noteFound(ctx, r.ID, func(f *mcp.Discovery) {
		if f.Error = ""; v.Error != nil {
			f.Error = *v.Error
			return
		}
		f.Synced = c.Now.UnixMilli()
		if response != nil {
			f.Metadata = response.metadata()
		}
	})
	return v, nil
}

func (k mcpServers) initialize() []byte {
	return jsonfield.Encode(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "initialize",
		"params": map[string]any{"protocolVersion": protocolVersion, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "sluice", "version": k.Version}},
	})
}

// initialized is a server's response to the first message.
type initialized struct {
	Result *struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Capabilities    json.RawMessage `json:"capabilities"`
		Instructions    string          `json:"instructions"`
		ServerInfo      struct {
			Name        string          `json:"name"`
			Version     string          `json:"version"`
			Title       string          `json:"title"`
			Description string          `json:"description"`
			WebsiteURL  string          `json:"websiteUrl"`
			Icons       json.RawMessage `json:"icons"`
		} `json:"serverInfo"`
	} `json:"result"`
	Error json.RawMessage `json:"error"`
}

// readInitialized parses the response; nil if it is not valid.
func readInitialized(raw []byte) *initialized {
	var response initialized
	if !isJSON(raw, &response) || response.Result == nil && response.Error == nil {
		return nil
	}
	return &response
}

func (i *initialized) name(otherwise string) string {
	if n := i.Result.ServerInfo.Name; n != "" {
		return clip(n, 255)
	}
	return otherwise
}

// Maximum lengths of stored upstream texts.
const (
	maxServerText   = 2048
	maxInstructions = 16 << 10
	maxServerJSON   = 64 << 10
)

func (i *initialized) metadata() mcp.Metadata {
	r, s := i.Result, i.Result.ServerInfo
	return mcp.Metadata{
		Name: clip(s.Name, 255), Version: clip(s.Version, 255), Title: clip(s.Title, 255), Description: clip(s.Description, maxServerText),
		WebsiteURL: clip(s.WebsiteURL, maxServerText), Icons: limitJSON(s.Icons, '['), ProtocolVersion: clip(r.ProtocolVersion, 64),
		Flags: limitJSON(r.Capabilities, '{'), Instructions: clip(r.Instructions, maxInstructions),
	}
}

// clip cuts a string to a number of bytes, between characters.
func clip(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	return string(bytes.ToValidUTF8([]byte(s[:maxBytes]), nil))
}

// limitJSON returns a JSON value that begins with first and is not too large; otherwise nil.
func limitJSON(raw json.RawMessage, first byte) json.RawMessage {
	if len(raw) == 0 || raw[0] != first || len(raw) > maxServerJSON {
		return nil
	}
	return raw
}
