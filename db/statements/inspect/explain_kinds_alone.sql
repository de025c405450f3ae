-- Returns what explain_kinds returns, without asking the host.
--
--   :subject_id  tacet.subject_id  the id

select k.kind
from (
  
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
