package secrets

// serviceFormats are keys of services for messages, payment, shops and content.
var serviceFormats = []format{
	{id: "slack-bot", prefix: "xoxb-", body: "9{10,13}-9{10,13}-A{18,34}", source: gitleaks},
	{id: "slack-user", prefix: "xoxp-", body: "9{10,13}-9{10,13}-9{10,13}-A{28,34}", source: gitleaks},
	{id: "slack-user", prefix: "xoxe-", body: "9{1}-U{146}", source: gitleaks},
	{id: "slack-app", prefix: "xapp-", body: "9{1}-U{8,14}-9{10,14}-h{32,64}", source: gitleaks},
	{id: "slack-webhook", prefix: "hooks.slack.com/services/", body: "U{8,12}/U{8,12}/A{20,28}", source: gitleaks},
	{id: "slack-webhook", prefix: "hooks.slack.com/workflows/", body: "U{8,12}/U{8,12}/9{15,20}/A{20,28}", source: gitleaks},
	{id: "discord-webhook", prefix: "discord.com/api/webhooks/", body: "9{17,20}/w{60,80}", source: trufflehog},
	{id: "discord-webhook", prefix: "discordapp.com/api/webhooks/", body: "9{17,20}/w{60,80}", source: trufflehog},
	{id: "stripe", prefix: "sk_live_", body: "A{16,110}", source: gitleaks},
	{id: "stripe", prefix: "sk_test_", body: "A{16,110}", source: gitleaks},
	{id: "stripe", prefix: "rk_live_", body: "A{16,110}", source: gitleaks},
	{id: "stripe", prefix: "rk_test_", body: "A{16,110}", source: gitleaks},
	{id: "stripe-webhook", prefix: "whsec_", body: "b{32,64}", source: "https://docs.stripe.com/webhooks"},
	{id: "paypal", prefix: "access_token$production$", body: "a{16}$h{32}", source: trufflehog},
	{id: "square", prefix: "sq0atp-", body: "w{22}", source: gitleaks},
	{id: "square", prefix: "sq0csp-", body: "w{43}", source: trufflehog},
	{id: "square", prefix: "EAAAE", body: "w{55,60}", source: gitleaks},
	{id: "twilio", prefix: "SK", body: "h{32}", source: gitleaks},
	{id: "sendgrid", prefix: "SG.", body: "w{22}.w{43}", source: gitleaks},
	{id: "brevo", prefix: "xkeysib-", body: "h{64}-A{16}", source: gitleaks},
	{id: "resend", prefix: "re_", body: "A{8}_A{20,26}", source: "https://resend.com/docs/api-reference/introduction"},
	{id: "mailgun", prefix: "key-", body: "h{32}", cue: "mailgun", source: gitleaks},
	{id: "shopify", prefix: "shpat_", body: "H{32}", source: gitleaks},
	{id: "shopify", prefix: "shpca_", body: "H{32}", source: gitleaks},
	{id: "shopify", prefix: "shppa_", body: "H{32}", source: gitleaks},
	{id: "shopify", prefix: "shpss_", body: "H{32}", source: gitleaks},
	{id: "shippo", prefix: "shippo_live_", body: "H{40}", source: gitleaks},
	{id: "shippo", prefix: "shippo_test_", body: "H{40}", source: gitleaks},
	{id: "duffel", prefix: "duffel_live_", body: "w{43}", source: gitleaks},
	{id: "easypost", prefix: "EZAK", body: "A{54}", source: gitleaks},
	{id: "flutterwave", prefix: "FLWSECK-", body: "h{32}-X", source: gitleaks},
	{id: "facebook", prefix: "EAAC", body: "A{100,300}", source: gitleaks},
	{id: "facebook", prefix: "EAAM", body: "A{100,300}", source: gitleaks},
	{id: "dropbox", prefix: "sl.", body: "w{130,1000}", source: gitleaks},
	{id: "mapbox", prefix: "sk.eyJ1I", body: "w{50,120}.w{22}", source: gitleaks},
	{id: "contentful", prefix: "CFPAT-", body: "w{43}", source: trufflehog},
	{id: "typeform", prefix: "tfp_", body: "w{40,60}", source: gitleaks},
	{id: "frameio", prefix: "fio-u-", body: "w{64}", source: gitleaks},
	{id: "adobe", prefix: "p8e-", body: "a{32}", source: gitleaks},
	{id: "elevenlabs", prefix: "sk_", body: "h{48}", source: trufflehog},
	{id: "hubspot", prefix: "pat-na1-", body: "h{8}-h{4}-h{4}-h{4}-h{12}", source: trufflehog},
	{id: "hubspot", prefix: "pat-eu1-", body: "h{8}-h{4}-h{4}-h{4}-h{12}", source: trufflehog},
	{id: "plaid", prefix: "access-production-", body: "h{8}-h{4}-h{4}-h{4}-h{12}", source: gitleaks},
	{id: "clojars", prefix: "CLOJARS_", body: "a{60}", source: gitleaks},
	{id: "azure-sas", prefix: "sig=", body: "p{43,60}", cue: "sv", source: "https://learn.microsoft.com/azure/storage/common/storage-sas-overview"},
}

// cuedFormats have no prefix: the name of the service must be near, and a word such as "key".
var cuedFormats = []format{
	{id: "aws-secret-key", body: "b{40}", cue: "aws", source: "https://docs.aws.amazon.com/IAM/latest/UserGuide/security-creds.html"},
	{id: "azure-openai", body: "h{32}", cue: "azure", source: trufflehog},
	{id: "azure-openai", body: "A{84}", cue: "azure", source: "https://learn.microsoft.com/azure/ai-services/openai/reference"},
	{id: "twilio-auth-token", body: "h{32}", cue: "twilio", source: "https://www.twilio.com/docs/iam/api-keys"},
	{id: "datadog", body: "h{32}", cue: "datadog", source: trufflehog},
	{id: "datadog", body: "h{40}", cue: "datadog", source: gitleaks},
	{id: "datadog", body: "h{32}", cue: "dd", source: trufflehog},
	{id: "cloudflare", body: "w{40}", cue: "cloudflare", source: gitleaks},
	{id: "cloudflare", body: "h{37}", cue: "cloudflare", source: gitleaks},
	{id: "cohere", body: "A{40}", cue: "cohere", source: gitleaks},
	{id: "mistral", body: "A{32}", cue: "mistral", source: trufflehog},
	{id: "deepseek", body: "sk-a{32}", cue: "deepseek", source: trufflehog},
	{id: "okta", body: "00w{40}", cue: "okta", source: gitleaks},
	{id: "fastly", body: "w{32}", cue: "fastly", source: gitleaks},
	{id: "algolia", body: "h{32}", cue: "algolia", source: gitleaks},
	{id: "snyk", body: "h{8}-h{4}-h{4}-h{4}-h{12}", cue: "snyk", source: gitleaks},
	{id: "heroku", body: "h{8}-h{4}-h{4}-h{4}-h{12}", cue: "heroku", source: gitleaks},
	{id: "asana", body: "h{32}", cue: "asana", source: gitleaks},
	{id: "linkedin", body: "A{16}", cue: "linkedin", source: gitleaks},
	{id: "twitter", body: "A{45,50}", cue: "twitter", source: gitleaks},
	{id: "facebook", body: "h{32}", cue: "facebook", source: gitleaks},
	{id: "discord", body: "w{23,28}.w{6}.w{27,38}", cue: "discord", source: trufflehog},
	{id: "discord", body: "h{64}", cue: "discord", source: gitleaks},
	{id: "sentry", body: "h{64}", cue: "sentry", source: gitleaks},
	{id: "airtable", body: "keyA{14}", cue: "airtable", source: gitleaks},
	{id: "circleci", body: "h{40}", cue: "circleci", source: trufflehog},
	{id: "launchdarkly", body: "w{40}", cue: "launchdarkly", source: gitleaks},
	{id: "netlify", body: "w{40,46}", cue: "netlify", source: gitleaks},
	{id: "vercel", body: "A{24}", cue: "vercel", source: trufflehog},
	{id: "intercom", body: "p{60}", cue: "intercom", source: gitleaks},
	{id: "mongodb-atlas", body: "h{8}-h{4}-h{4}-h{4}-h{12}", cue: "atlas", source: trufflehog},
	{id: "rapidapi", body: "w{50}", cue: "rapidapi", source: gitleaks},
}

// infixFormat is a format without a prefix whose second part is distinctive. The first part is a word of
// letters and digits.
type infixFormat struct {
	id          string
	low, top    int    // length of the first part
	first       byte   // its class
	ending      string // its last characters
	infix, body string // what follows
	cue         string
	source      string
}

var infixFormats = []infixFormat{
	{"telegram", 8, 10, '9', "", ":", "w{34,35}", "", gitleaks},
	{"terraform", 14, 14, 'A', "", ".atlasv1.", "w{60,70}", "", gitleaks},
	{"mailchimp", 32, 32, 'h', "", "-us", "9{1,2}", "", gitleaks},
	{"azure-client-secret", 5, 5, 'w', "Q", "~", "p{31,34}", "", gitleaks},
	{"asana", 1, 1, '9', "", "/", "9{16}:h{32}", "asana", gitleaks},
}
