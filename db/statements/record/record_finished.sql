-- Does what record does, for events that are over with it: nothing remains for any recipient, no more recipients are to
-- come, and nothing was learnt about device tokens. Nearly all are.
--
--   :subject_ids       tacet.subject_id[]  the subjects; up to :histories one element for each recipient
--   :kinds             text[]              their kinds
--   :user_ids          tacet.user_id[]     the recipients
--   :decisions         text[]              the decisions
--   :reasons           text[]              why; null for a plain success
--   :enqueued_us       bigint[]            when the event was committed, since 1970
--   :claimed_us        bigint[]            when it was claimed, since 1970
--   :woken_us          bigint[]            from the wake-up to the claim's answer
--   :decided_us        bigint[]            from the claim to the decision
--   :accepted_us       bigint[]            from the claim to the acceptance by APNs; null for none
--   :devices_accepted  bigint[]            devices that have accepted
--   :attempts          bigint[]            the claim's attempts
--   :woken_by          text[]              what made the service look
--   :log_ids           uuid[]              ids for the ledger's rows
--   :contents          text[]              texts of pushes that campaigns have written
--   :histories         text[]              entries for the rows' histories
--   :event_ids         tacet.subject_id[]  subjects of the events, one element for each event
--   :event_kinds       text[]              their kinds
--   :event_attempts    integer[]           their claims' attempts
--
-- Setting up the plan of record takes longer than running this statement. Events are locked in the order of their keys,
-- as there. Returns the events that were taken from the inbox. It leaves out events whose claim is no longer the
-- caller's: only record knows what may be added to another claim's.

with ours as materialized (
  select e.subject_id, e.kind
  from (
    select *
    from unnest(:event_ids, :event_kinds, :event_attempts) as e (subject_id, kind, attempts)
    order by e.subject_id, e.kind
  ) e
  -- Locks the inbox row of an event as long as its claim is the caller's.
  cross join lateral (
    select
    from tacet.inbox x
    where x.subject_id = e.subject_id and x.kind = e.kind and x.attempts = e.attempts and x.is_claimed::int = 1
    for update
  ) i
), taken as (
  delete from tacet.inbox i
  where i.subject_id = any (:event_ids)
    and ((i.subject_id, i.kind) in (select u.subject_id, u.kind from ours u)) is true
  returning i.subject_id, i.kind
), logged as (
  insert into tacet.push_log as l (
    id, subject_id, push_type, user_id, decision, reason, enqueued_at, claimed_at, held_until, sent_at,
    woken_microseconds, decided_microseconds, accepted_microseconds, devices_accepted, attempts, woken_by, content,
    history, metadata
  )
  select
    o.log_id, o.subject_id, o.kind, o.user_id, o.decision, o.reason,
    timestamptz 'epoch' + o.enqueued_us * interval '1 microsecond',
    timestamptz 'epoch' + o.claimed_us * interval '1 microsecond',
    null,
    -- See record for shadows.
    case
      when o.decision = 'sent' then timestamptz 'epoch' + (o.claimed_us + o.accepted_us) * interval '1 microsecond'
      when o.reason = 'shadow' then timestamptz 'epoch' + (o.claimed_us + o.decided_us) * interval '1 microsecond'
    end,
    -- Cut at what the columns hold. Only pushes with a text of ours can have metadata, and only for them is it looked
    -- up.
    least(o.woken_us, 2147483647), least(o.decided_us, 2147483647),
    case when o.accepted_us is not null then least(o.accepted_us, 2147483647) end,
    least(o.devices_accepted, 32767), least(o.attempts, 32767), o.woken_by, o.content,
    case when o.history is null then '[]' else jsonb_build_array(o.history::jsonb) end,
    coalesce(
      case
        when o.content is not null then (select p.metadata from tacet.pushes p where p.id = tacet.row_of(o.subject_id))
      end, '{}')
  from unnest(
    :subject_ids, :kinds, :user_ids, :decisions, :reasons, :enqueued_us, :claimed_us, :woken_us, :decided_us,
    :accepted_us, :devices_accepted, :attempts, :woken_by, :log_ids, :contents, :histories
  ) as o (
    subject_id, kind, user_id, decision, reason, enqueued_us, claimed_us, woken_us, decided_us, accepted_us,
    devices_accepted, attempts, woken_by, log_id, content, history
  )
  where ((o.subject_id, o.kind) in (select t.subject_id, t.kind from taken t)) is true
  order by o.subject_id, o.user_id, o.kind
  on conflict (subject_id, user_id, push_type) do update
  set
    decision = excluded.decision, reason = excluded.reason, claimed_at = excluded.claimed_at,
    held_until = excluded.held_until, sent_at = coalesce(l.sent_at, excluded.sent_at),
    woken_microseconds = excluded.woken_microseconds, decided_microseconds = excluded.decided_microseconds,
    accepted_microseconds = excluded.accepted_microseconds,
    devices_accepted = greatest(l.devices_accepted, excluded.devices_accepted),
    attempts = excluded.attempts, woken_by = excluded.woken_by,
    history = case
      when l.history @> jsonb_build_array(jsonb_build_object('claim', excluded.history -> 0 -> 'claim')) then l.history
      when jsonb_array_length(l.history) < 40 then l.history || excluded.history
      else (l.history - 20) || excluded.history
    end
  where l.decision = 'held' or excluded.decision = 'sent'
)
select t.subject_id, t.kind from taken t;
