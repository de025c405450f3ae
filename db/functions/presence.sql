-- Presence on surfaces that are not conversations.

-- As tacet.view_conversations for other surfaces, after asking tacet.may_view; and releases what the user is held there. It
-- waits only for another call that writes the first view of the same user and surface.
create or replace function tacet.view_surfaces(
  surface_kinds text[], surface_ids tacet.conversation_id[], user_ids tacet.user_id[], have_looked boolean[], have_left boolean[]
)
returns table (surface_kind text, surface_id tacet.conversation_id, user_id tacet.user_id, is_viewer boolean, is_skipped boolean)
language plpgsql volatile
as $$
declare
  verdicts boolean[] := array(
    select tacet.may_view(r.surface_kind, r.surface_id, r.user_id)
    from unnest(view_surfaces.surface_kinds, view_surfaces.surface_ids, view_surfaces.user_ids)
      with ordinality as r (surface_kind, surface_id, user_id, place)
    order by r.place);
  skipped bigint[];
begin
  with wanted as materialized (
    select r.*, v.user_id is not null as is_known
    from unnest(
      view_surfaces.surface_kinds, view_surfaces.surface_ids, view_surfaces.user_ids, view_surfaces.have_looked,
      view_surfaces.have_left, verdicts
    ) with ordinality as r (surface_kind, surface_id, user_id, has_looked, has_left, is_viewer, place)
    left join lateral (
      select x.user_id, x.last_seen, x.left_at
      from tacet.surface_views x
      where x.user_id = r.user_id and x.surface_id = r.surface_id and x.surface_kind = r.surface_kind
      limit 1
    ) v on true
    where r.is_viewer
      and (
        r.has_left
        or v.last_seen is null
        or v.last_seen not between clock_timestamp() - tacet.presence_repeats_within() and clock_timestamp()
        or v.left_at >= v.last_seen
        or exists (
          select from tacet.deliveries d
          where d.user_id = r.user_id and d.conversation_id = r.surface_id and d.state = 'held'
        )
      )
  ), locked as materialized (
    select w.*, not w.is_known or x.is_locked is true as is_free
    from wanted w
    left join lateral (
      select true as is_locked
      from tacet.surface_views x
      where x.user_id = w.user_id and x.surface_id = w.surface_id and x.surface_kind = w.surface_kind
      for no key update skip locked
    ) x on true
  ), written as (
    insert into tacet.surface_views as v (surface_kind, surface_id, user_id, last_seen, left_at)
    select
      l.surface_kind, l.surface_id, l.user_id, case when l.has_looked then clock_timestamp() end,
      case when l.has_left then clock_timestamp() end
    from locked l
    where l.is_free
    order by l.user_id, l.surface_id, l.surface_kind
    on conflict on constraint surface_views_pkey do update
    set
      last_seen = case when excluded.last_seen is null then v.last_seen else clock_timestamp() end,
      left_at = case when excluded.left_at is not null then clock_timestamp() end
  )
  select coalesce(array_agg(l.place) filter (where not l.is_free), '{}') into skipped from locked l;

  perform tacet.release_holds(held.subject_ids, held.user_ids, held.causes)
  from (
    select
      array_agg(d.subject_id) as subject_ids, array_agg(d.user_id) as user_ids,
      array_agg(case when r.has_left then 'left' else 'seen' end) as causes
    from unnest(view_surfaces.surface_ids, view_surfaces.user_ids, view_surfaces.have_left, verdicts)
      with ordinality as r (surface_id, user_id, has_left, is_viewer, place)
    join tacet.deliveries d on d.user_id = r.user_id and d.conversation_id = r.surface_id
    where r.is_viewer and r.place <> all (skipped) and d.state = 'held'
    having count(*) > 0
  ) held;

  return query
    select r.surface_kind, r.surface_id, r.user_id, r.is_viewer, r.place = any (skipped)
    from unnest(view_surfaces.surface_kinds, view_surfaces.surface_ids, view_surfaces.user_ids, verdicts)
      with ordinality as r (surface_kind, surface_id, user_id, is_viewer, place);
end
$$;
