-- Makes holds due that a host's transaction could not release, because its snapshot was older than their last change.
--
--   :releases_max  bigint  releases at most
--
-- Returns the number of releases; the number of holds is not larger.

with queued as (
  delete from tacet.releases r
  where r.ctid = any (array(
    select x.ctid from tacet.releases x order by x.queued_at limit :releases_max for update skip locked))
  returning r.subject_id, r.user_id, r.cause
), released as materialized (
  select tacet.release_holds(array_agg(q.subject_id), array_agg(q.user_id), array_agg(q.cause)), count(*) as releases
  from queued q
)
select r.releases from released r;
