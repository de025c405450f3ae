-- Ends a decision without a push; see tacet.decide_campaign. Returns whether it was still the caller's.
--
--   :campaign           text           the campaign
--   :user_id            tacet.user_id  the user
--   :local_day          text           the day
--   :attempts           integer        the claim's attempts
--   :decision           text           the decision
--   :reason             text           why
--   :layer              text           the layer of the campaign that was reached
--   :inputs             text           what was looked at, as JSON
--   :input_tokens       bigint         tokens that a model has read
--   :output_tokens      bigint         tokens that it has written
--   :cost_microdollars  bigint         what they cost

select tacet.decide_campaign(
  :campaign, :user_id, :local_day::date, :attempts, :decision, :reason, :layer, :inputs::jsonb, :input_tokens,
  :output_tokens, :cost_microdollars);
