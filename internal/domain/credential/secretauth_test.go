package credential_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sluice/internal/domain/credential"
	"sluice/internal/kernel/fault"
)

func TestCheckAuth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		manager     credential.Manager
		sent        string // fields, k=v
		left        string // of what is stored
		want, field string // URL and its field, or the refusal and where
	}{
		{"aws_sm", "aws_auth_type=accessKey aws_access_key_id=A aws_secret_access_key=S aws_region=eu-west-1", "", "", ""},
		{"aws_sm", "aws_auth_type=serviceRole", "", "", ""},
		{"aws_sm", "aws_auth_type=assumedRole aws_role_arn=arn:aws:iam::1:role/r aws_region=us-east-1", "aws_access_key_id=A", "", ""},
		{"azure_kv", "azure_auth_mode=default azure_vault_url=https://a.vault.azure.net", "", "https://a.vault.azure.net", "auth_config.azure_vault_url"},
		{"hashicorp_vault", "vault_auth_type=approle vault_addr=https://vault.example.com vault_role_id=r vault_secret_id=s", "", "https://vault.example.com", "auth_config.vault_addr"},

		{"gcp_sm", "", "", "aws_sm, azure_kv", "manager_type"},
		{"aws_sm", "aws_region=eu-west-1", "", "accessKey, assumedRole, serviceRole", "auth_config.aws_auth_type"},
		{"aws_sm", "aws_auth_type=accessKey aws_access_key_id=A aws_region=eu-west-1", "", "accessKey requires this field", "auth_config.aws_secret_access_key"},
		{"aws_sm", "aws_auth_type=serviceRole aws_region=x.evil.example/", "", "lower-case letters", "auth_config.aws_region"},
		{"aws_sm", "aws_auth_type=serviceRole vault_token=t", "", "does not have this field", "auth_config.vault_token"},
		{"hashicorp_vault", "vault_auth_type=token vault_addr=https://v.example?x=y vault_token=t", "", "without a query", "auth_config.vault_addr"},
		{"hashicorp_vault", "vault_auth_type=token vault_addr=https://v.example vault_token=t\r\nX-Evil:1", "", "a single line", "auth_config.vault_token"},
	} {
		auth := map[string]string{}
		for _, pair := range strings.Split(c.left+" "+c.sent, " ") {
			if k, v, ok := strings.Cut(pair, "="); ok {
				auth[k] = v
			}
		}
		sent := slices.DeleteFunc(slices.Collect(maps.Keys(auth)), func(k string) bool { return strings.Contains(c.left, k+"=") })
		got, field, err := credential.CheckAuth(c.manager, auth, sent)
		if f := fault.From(err); f != nil {
			got, field = f.Text(), f.Param
		}
		if field != c.field || !strings.Contains(got, c.want) || c.field == "" && got != "" {
			t.Errorf("%s %s: %q at %q, want %q at %q", c.manager, c.sent, got, field, c.want, c.field)
		}
		if _, stays := auth["aws_access_key_id"]; stays && c.left != "" {
			t.Errorf("%s: what belongs to another mode stays", c.sent)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for path, fits := range map[string]bool{
		"aws_sm prod/openai": true, "aws_sm arn:aws:secretsmanager:eu-west-1:1:secret:a-AbCdEf": true, "aws_sm a b": false,
		"azure_kv openai-key": true, "azure_kv openai-key/0123abc": true, "azure_kv ../keys": false, "azure_kv a/b/c": false, "azure_kv a?b": false,
		"hashicorp_vault secret/data/openai": true, "hashicorp_vault /kv/team/a b": true, "hashicorp_vault secret/../sys/mounts": false,
		"hashicorp_vault secret/%2e%2e/sys": false, "hashicorp_vault a?list=true": false, "hashicorp_vault a//b": false,
		"aws_sm ": false, "hashicorp_vault " + strings.Repeat("a", 1025): false,
	} {
		manager, path, _ := strings.Cut(path, " ")
		s := credential.SecretReference{Manager: credential.Manager(manager), Path: path, All: true}
		if err := s.Validate(); (err == nil) != fits {
			t.Errorf("%s %s: %v", manager, path, err)
		}
	}
}

func TestAzureVault(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"https://mine.vault.azure.net": "vault.azure.net", "https://Mine.Vault.Azure.CN/": "vault.azure.cn", "http://mine.vault.azure.net": "",
		"https://vault.azure.net.evil.example": "", "https://evil.example/?a.vault.azure.net": "", "https://mine.vault.azure.net@evil.example": "",
	} {
		if got := credential.AzureVault(raw); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

// Nothing prints a sign-in.
func TestSourceIsNotPrinted(t *testing.T) {
	t.Parallel()
	s := &credential.SecretSource{RecordID: "r", Auth: map[string]string{"vault_token": "hvs.hidden"}}
	use := credential.SecretUse{Field: "key", Source: s}
	b, err := json.Marshal(use)
	if text := fmt.Sprintf("%v %+v %#v %s", s, use, use, b); err != nil || strings.Contains(text, "hvs") {
		t.Errorf("%s, %v", text, err)
	}
}
