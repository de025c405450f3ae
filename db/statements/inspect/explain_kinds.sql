-- Returns the kinds of events that an id is the subject of, messages first.
--
--   :subject_id  tacet.subject_id  the id
--
-- About all explain_… statements: each reads what is known of an event long after it happened, as one document of JSON
-- whose members are those of the type that it is decoded as. Every look-up has an index and a limit: nothing grows with
-- the ledger, and little with the event. Device tokens leave the database as their first eight characters. The ones
-- whose names end in `_alone` read Tacet's tables only, for an event for which the host's functions fail.

select k.kind
from (
  select 'message' as kind where exists (select from tacet.message_context(tacet.message_of(:subject_id)))
  union
  select w.kind from tacet.kinds w where exists (select from tacet.watched_row_content(w.kind, :subject_id))
  union
  select l.push_type as kind
    from (select l.push_type from tacet.push_log l where l.subject_id = :subject_id limit 1000) l
  union
  select i.kind from tacet.inbox i where i.subject_id = :subject_id
  union
  select d.kind from (select d.kind from tacet.deliveries d where d.subject_id = :subject_id limit 1000) d
  union
  select p.kind from (select p.kind from tacet.parked p where p.subject_id = :subject_id limit 1000) p
  union
  select p.kind from tacet.pushes p where p.id = tacet.row_of(:subject_id)
  union
  select 'read_sync' from tacet.read_syncs s where s.id = tacet.row_of(:subject_id)
) k
order by k.kind <> 'message', k.kind
limit 20;
