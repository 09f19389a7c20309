CREATE TABLE usage_meters (
  carrier_id      {id} NOT NULL,
  entry           {word} NOT NULL,
  carrier_kind    {word} NOT NULL,
  org_id          {id} NOT NULL,
  workspace_id    {id} NOT NULL,
  value_key       {text} NOT NULL,
  value_folded    {text} NOT NULL,
  used            BIGINT NOT NULL,
  limit_units     BIGINT NOT NULL,
  threshold_units BIGINT NOT NULL,
  exhausted       BIGINT NOT NULL,
  threshold_alert BIGINT NOT NULL,
  exhausted_alert BIGINT NOT NULL,
  last_reset_ms   BIGINT NOT NULL,
  next_reset_ms   BIGINT NOT NULL,
  PRIMARY KEY (carrier_id, entry)
) {table}
