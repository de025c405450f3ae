-- Events that callers and webhooks tell of, and what became of them.

-- name: ingest(subject_id tacet.subject_id)
-- Makes sure that a message named by a webhook is in the inbox, unless it has been decided, and returns its outcome.

with ledger as materialized (
  select l.user_id, l.decision, l.reason, l.held_until, l.devices_accepted
  from tacet.push_log l
  where l.subject_id = :subject_id and l.push_type = 'message'
), entry as materialized (
  select tacet.enqueue_message(:subject_id) as is_known where not exists (select from ledger)
)
select
  coalesce((select e.is_known from entry e), true) as is_known,
  not exists (select from ledger) as is_pending,
  l.user_id, l.decision, l.reason, tacet.unix_us(l.held_until) as held_until, l.devices_accepted
from (values (1)) as one
left join ledger l on true
order by l.user_id;

-- name: ingest_event(subject_id tacet.subject_id, kind text)
-- Returns where an event of a watched kind is. It is known while its row or a row of the ledger is there, and pending
-- while its inbox row is there.
--
-- Nothing is put in the inbox. A webhook only says that a row was written; the kind's own trigger and condition say
-- whether that was an event.

with event as materialized (
  select from tacet.event_content(:kind, :subject_id)
)
select
  exists (select from tacet.kinds k where k.kind = :kind) and (exists (select from event) or l.user_id is not null)
    as is_known,
  -- include: outcome_so_far

-- name: outcome(subject_id tacet.subject_id, kind text)
-- Returns the outcome of an event so far. It is pending while its inbox row is there.

select
  true as is_known,
  -- include: outcome_so_far

-- name: own_words
-- Returns the texts that the host has put in place of Tacet's own words, by locale and plural category.

select t.kind as name, t.locale, f.category, left(f.text, 256) as text
from tacet.texts t
cross join lateral (
  select 'other' as category, t.body as text
  union all
  select p.category, p.words ->> 'body' from jsonb_each(t.plural) as p (category, words)
) f
where t.kind in ('tacet_new_message', 'tacet_new_notification', 'tacet_more') and f.text <> ''
limit 1000;

-- part: outcome_so_far
  exists (select from tacet.inbox i where i.subject_id = :subject_id and i.kind = :kind) as is_pending,
  l.user_id, l.decision, l.reason, tacet.unix_us(l.held_until) as held_until, l.devices_accepted
from (values (1)) as one
left join tacet.push_log l on l.subject_id = :subject_id and l.push_type = :kind
order by l.user_id;
