-- Claims events for the host, the oldest of each user; see tacet.claim_host_events.
--
--   :events_max  integer  events at most
--   :lease_us    bigint   how long the claim holds

select
  e.id, e.attempts, e.webhook_id, e.type, e.user_id, e.log_id, e.subject_id, e.kind, e.reason, e.channel, e.device,
  (extract(epoch from e.occurred_at) * 1000000)::bigint as occurred_us,
  (extract(epoch from e.sent_at) * 1000000)::bigint as sent_us
from tacet.claim_host_events(:events_max, :lease_us * interval '1 microsecond') e;
