-- Stores who looks at what and who has left, and returns what each user is to the surface.
--
--   :kinds        text[]                   kinds of the surfaces, one element for each surface and user
--   :surface_ids  tacet.conversation_id[]  their ids
--   :user_ids     tacet.user_id[]          the users
--   :have_looked  boolean[]                whether the user has looked
--   :have_left    boolean[]                whether the user has left
--
-- No surface and user may appear twice. Returns a row for each: kind, id, user, whether the user takes part (null for
-- an unknown surface), and whether nothing was written because another session has locked the row.

with reported as materialized (
  select r.* from unnest(:kinds, :surface_ids, :user_ids, :have_looked, :have_left)
    as r (kind, id, user_id, has_looked, has_left)
)
select 'conversation' as kind, v.conversation_id as id, v.user_id, v.is_participant as takes_part, v.is_skipped
from (
  select
    array_agg(r.id) as ids, array_agg(r.user_id) as user_ids, array_agg(r.has_looked) as have_looked,
    array_agg(r.has_left) as have_left
  from reported r
  where r.kind = 'conversation'
  having count(*) > 0
) c
cross join lateral tacet.view_conversations(c.ids, c.user_ids, c.have_looked, c.have_left) v
union all
select v.surface_kind, v.surface_id, v.user_id, v.is_viewer, v.is_skipped
from (
  select
    array_agg(r.kind) as kinds, array_agg(r.id) as ids, array_agg(r.user_id) as user_ids,
    array_agg(r.has_looked) as have_looked, array_agg(r.has_left) as have_left
  from reported r
  where r.kind <> 'conversation'
  having count(*) > 0
) s
cross join lateral tacet.view_surfaces(s.kinds, s.ids, s.user_ids, s.have_looked, s.have_left) v;
