package secrets

import "slices"

// Sources that many formats share. Both list the forms that vendors publish.
const (
	gitleaks   = "https://github.com/gitleaks/gitleaks/blob/009e025ad4106ab333aa0b9dc4f2a884390d134c/config/gitleaks.toml, 2026-11-28"
	trufflehog = "https://github.com/trufflesecurity/trufflehog/tree/main/pkg/detectors, 2026-11-28"
)

// formats lists all formats that begin with a prefix or need a cue.
var formats = slices.Concat(modelFormats, cloudFormats, developerFormats, serviceFormats, cuedFormats)

// modelFormats are keys of providers of models.
var modelFormats = []format{
	{id: "openai", prefix: "sk-proj-", body: "w{120,200}", source: gitleaks},
	{id: "openai", prefix: "sk-svcacct-", body: "w{120,200}", source: gitleaks},
	{id: "openai", prefix: "sk-admin-", body: "w{120,200}", source: gitleaks},
	{id: "openai", prefix: "sk-", body: "A{20}T3BlbkFJA{20}", source: gitleaks},
	{id: "anthropic", prefix: "sk-ant-api03-", body: "w{90,100}", source: gitleaks},
	{id: "anthropic", prefix: "sk-ant-admin01-", body: "w{90,100}", source: gitleaks},
	{id: "anthropic", prefix: "sk-ant-oat01-", body: "w{80,120}", source: "https://docs.anthropic.com/en/api/overview"},
	{id: "openrouter", prefix: "sk-or-v1-", body: "h{64}", source: trufflehog},
	{id: "huggingface", prefix: "hf_", body: "A{34,40}", source: gitleaks},
	{id: "huggingface", prefix: "api_org_", body: "L{34}", source: gitleaks},
	{id: "replicate", prefix: "r8_", body: "w{37,40}", source: trufflehog},
	{id: "groq", prefix: "gsk_", body: "A{52}", source: trufflehog},
	{id: "perplexity", prefix: "pplx-", body: "A{48,56}", source: gitleaks},
	{id: "xai", prefix: "xai-", body: "w{80}", source: trufflehog},
	{id: "langsmith", prefix: "lsv2_pt_", body: "h{32}_h{10}", source: trufflehog},
	{id: "langsmith", prefix: "lsv2_sk_", body: "h{32}_h{10}", source: trufflehog},
	{id: "pinecone", prefix: "pcsk_", body: "w{60,90}", source: trufflehog},
	{id: "fireworks", prefix: "fw_", body: "A{22,28}", source: "https://docs.fireworks.ai/api-reference/introduction"},
	{id: "nvidia", prefix: "nvapi-", body: "w{64}", source: trufflehog},
	{id: "wandb", prefix: "wandb_v1_", body: "w{40,90}", source: trufflehog},
}

// cloudFormats are keys of clouds, hosts and infrastructure.
var cloudFormats = []format{
	{id: "google-api-key", prefix: "AIza", body: "w{35}", source: gitleaks},
	{id: "google-oauth-client-secret", prefix: "GOCSPX-", body: "w{28}", source: trufflehog},
	{id: "google-oauth-token", prefix: "ya29.", body: "w{50,1000}", source: "https://developers.google.com/identity/protocols/oauth2"},
	{id: "aws-access-key", prefix: "AKIA", body: "U{16}", valid: isBase32Key, source: gitleaks},
	{id: "aws-access-key", prefix: "ASIA", body: "U{16}", valid: isBase32Key, source: gitleaks},
	{id: "aws-access-key", prefix: "ABIA", body: "U{16}", valid: isBase32Key, source: gitleaks},
	{id: "aws-access-key", prefix: "ACCA", body: "U{16}", valid: isBase32Key, source: gitleaks},
	{id: "azure-storage-key", prefix: "AccountKey=", body: "b{86}==", source: "https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string"},
	{id: "azure-storage-key", prefix: "SharedAccessKey=", body: "b{43}=", source: "https://learn.microsoft.com/azure/service-bus-messaging/service-bus-sas"},
	{id: "alibaba", prefix: "LTAI", body: "A{12,26}", source: gitleaks},
	{id: "digitalocean", prefix: "dop_v1_", body: "h{64}", source: gitleaks},
	{id: "digitalocean", prefix: "doo_v1_", body: "h{64}", source: gitleaks},
	{id: "digitalocean", prefix: "dor_v1_", body: "h{64}", source: gitleaks},
	{id: "heroku", prefix: "HRKU-AA", body: "w{58}", source: gitleaks},
	{id: "cloudflare-origin-ca", prefix: "v1.0-", body: "h{24}-h{146}", source: gitleaks},
	{id: "flyio", prefix: "fo1_", body: "w{43}", source: gitleaks},
	{id: "flyio", prefix: "fm2_", body: "b{100,800}", source: gitleaks},
	{id: "netlify", prefix: "nfp_", body: "A{36,40}", source: trufflehog},
	{id: "vault", prefix: "hvs.", body: "w{90,120}", source: gitleaks},
	{id: "vault", prefix: "hvb.", body: "w{138,300}", source: gitleaks},
	{id: "pulumi", prefix: "pul-", body: "h{40}", source: gitleaks},
	{id: "supabase", prefix: "sbp_", body: "a{40}", source: trufflehog},
	{id: "supabase", prefix: "sb_secret_", body: "w{20,60}", source: "https://supabase.com/docs/guides/api/api-keys"},
	{id: "planetscale", prefix: "pscale_tkn_", body: "w{32,64}", source: gitleaks},
	{id: "planetscale", prefix: "pscale_oauth_", body: "w{32,64}", source: gitleaks},
	{id: "planetscale", prefix: "pscale_pw_", body: "w{32,64}", source: gitleaks},
	{id: "neon", prefix: "napi_", body: "A{40,80}", source: "https://neon.tech/docs/manage/api-keys"},
	{id: "databricks", prefix: "dapi", body: "h{32}", source: gitleaks},
	{id: "openshift", prefix: "sha256~", body: "w{43}", source: gitleaks},
	{id: "doppler", prefix: "dp.pt.", body: "A{43}", source: gitleaks},
	{id: "doppler", prefix: "dp.st.", body: "w{40,60}", source: trufflehog},
	{id: "dynatrace", prefix: "dt0c01.", body: "U{24}.U{64}", source: gitleaks},
	{id: "newrelic", prefix: "NRAK-", body: "U{27}", source: gitleaks},
	{id: "newrelic", prefix: "NRII-", body: "w{32}", source: gitleaks},
	{id: "newrelic", prefix: "NRJS-", body: "h{19}", source: gitleaks},
	{id: "grafana", prefix: "glsa_", body: "A{32}_H{8}", source: gitleaks},
	{id: "grafana-cloud", prefix: "glc_", body: "p{32,400}", source: gitleaks},
	{id: "1password", prefix: "ops_eyJ", body: "p{200,1000}", source: gitleaks},
	{id: "age", prefix: "AGE-SECRET-KEY-1", body: "U{58}", source: gitleaks},
}

// developerFormats are keys of development tools.
var developerFormats = []format{
	{id: "github", prefix: "ghp_", body: "A{36}", valid: isGitHubToken, source: "https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/, 2026-11-28"},
	{id: "github", prefix: "gho_", body: "A{36}", valid: isGitHubToken, source: gitleaks},
	{id: "github", prefix: "ghu_", body: "A{36}", valid: isGitHubToken, source: gitleaks},
	{id: "github", prefix: "ghs_", body: "A{36}", valid: isGitHubToken, source: gitleaks},
	{id: "github", prefix: "ghr_", body: "A{36,76}", valid: isGitHubToken, source: gitleaks},
	{id: "github-fine-grained", prefix: "github_pat_", body: "A{22}_A{59}", source: gitleaks},
	{id: "gitlab", prefix: "glpat-", body: "w{20,300}", source: gitleaks},
	{id: "gitlab", prefix: "gldt-", body: "w{20}", source: gitleaks},
	{id: "gitlab", prefix: "glrt-", body: "w{20,300}", source: gitleaks},
	{id: "gitlab", prefix: "glsoat-", body: "w{20}", source: gitleaks},
	{id: "gitlab", prefix: "glcbt-", body: "w{20,100}", source: gitleaks},
	{id: "gitlab-trigger", prefix: "glptt-", body: "h{40}", source: gitleaks},
	{id: "npm", prefix: "npm_", body: "A{36}", source: gitleaks},
	{id: "pypi", prefix: "pypi-AgEIcHlwaS5vcmc", body: "w{50,1000}", source: gitleaks},
	{id: "pypi", prefix: "pypi-AgENdGVzdC5weXBpLm9yZ", body: "w{50,1000}", source: trufflehog},
	{id: "rubygems", prefix: "rubygems_", body: "h{48}", source: gitleaks},
	{id: "dockerhub", prefix: "dckr_pat_", body: "w{27,32}", source: trufflehog},
	{id: "dockerhub", prefix: "dckr_oat_", body: "w{27,32}", source: trufflehog},
	{id: "artifactory", prefix: "AKCp", body: "A{69}", source: gitleaks},
	{id: "circleci", prefix: "CCIPAT_", body: "A{22}_H{40}", source: trufflehog},
	{id: "circleci", prefix: "CCIPRJ_", body: "A{22}_H{40}", source: trufflehog},
	{id: "buildkite", prefix: "bkua_", body: "a{40}", source: trufflehog},
	{id: "sonarqube", prefix: "sqp_", body: "h{40}", source: "https://docs.sonarsource.com/sonarqube/latest/user-guide/user-account/generating-and-using-tokens/"},
	{id: "sonarqube", prefix: "sqa_", body: "h{40}", source: "https://docs.sonarsource.com/sonarqube/latest/user-guide/user-account/generating-and-using-tokens/"},
	{id: "sonarqube", prefix: "squ_", body: "h{40}", source: "https://docs.sonarsource.com/sonarqube/latest/user-guide/user-account/generating-and-using-tokens/"},
	{id: "sentry", prefix: "sntryu_", body: "h{64}", source: gitleaks},
	{id: "sentry", prefix: "sntrys_eyJ", body: "p{50,400}", source: gitleaks},
	{id: "postman", prefix: "PMAK-", body: "h{24}-h{34}", source: gitleaks},
	{id: "prefect", prefix: "pnu_", body: "A{36}", source: gitleaks},
	{id: "sourcegraph", prefix: "sgp_", body: "H{40}", source: gitleaks},
	{id: "octopus", prefix: "API-", body: "U{26}", source: gitleaks},
	{id: "infracost", prefix: "ico-", body: "A{32}", source: gitleaks},
	{id: "harness", prefix: "pat.", body: "w{22}.A{24}.A{20}", source: gitleaks},
	{id: "readme", prefix: "rdme_", body: "a{70}", source: gitleaks},
	{id: "linear", prefix: "lin_api_", body: "A{40}", source: gitleaks},
	{id: "atlassian", prefix: "ATATT3", body: "p{180,200}", source: gitleaks},
	{id: "atlassian", prefix: "ATCTT3xFfG", body: "p{100,300}", source: trufflehog},
	{id: "figma", prefix: "figd_", body: "w{40}", source: trufflehog},
	{id: "notion", prefix: "ntn_", body: "9{11}A{35}", source: gitleaks},
	{id: "airtable", prefix: "pat", body: "A{14}.h{64}", source: trufflehog},
}
