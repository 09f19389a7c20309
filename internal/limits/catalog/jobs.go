package catalog

// These are the names in price lists and costs for what jobs of providers use.
// Source: contract/content-and-observability.yaml, PricingConfig.finetune_config;
// https://developers.openai.com/api/docs/pricing (videos by the second), read 2026-11.
const (
	// VideoSeconds is the unit of seconds of video. A size may have a separate price, such as
	// "video_duration_seconds_1792_1024"; any other size has this price.
	VideoSeconds = "video_seconds"
	videoAt      = "video_duration_seconds_"
	// TrainingTokens is the unit of tokens of a training file times epochs
	// (finetune_config.pay_per_token).
	TrainingTokens = "training_tokens"
	// TrainingSeconds is the unit of seconds of training (finetune_config.pay_per_hour).
	TrainingSeconds = "training_seconds"
)

// hourSeconds is the number of seconds in an hour, the unit of training prices.
const hourSeconds = 3600

// training adds the prices of fine-tuning to the additional units.
func (b *builder) training(units map[string]*rate) {
	if b.tuned == nil {
		return
	}
	if r := b.make("finetune_config.pay_per_token", b.tuned.PerToken, 10, multiplierOne); r != nil {
		units[TrainingTokens] = r
	}
	if r := b.make("finetune_config.pay_per_hour", b.tuned.PerHour, 10, multiplierOne); r != nil {
		r.per = hourSeconds
		units[TrainingSeconds] = r
	}
}
