-- Ends a decision with a push, unless something keeps it back by now; see tacet.commit_campaign_push.
--
--   :campaign           text           the campaign
--   :user_id            tacet.user_id  the user
--   :local_day          text           the day
--   :attempts           integer        the claim's attempts
--   :layer              text           the layer of the campaign that has written it
--   :inputs             text           what was looked at, as JSON
--   :push_type          text           the push type
--   :title              text           the title
--   :body               text           the body
--   :data               text           the data, as JSON
--   :metadata           text           metadata for the ledger, as JSON
--   :input_tokens       bigint         tokens that a model has read
--   :output_tokens      bigint         tokens that it has written
--   :cost_microdollars  bigint         what they cost

select c.reason, c.push_id
from tacet.commit_campaign_push(
  :campaign, :user_id, :local_day::date, :attempts, :layer, :inputs::jsonb, :push_type, :title, :body, :data::json,
  :metadata::jsonb, :input_tokens, :output_tokens, :cost_microdollars
) c;
