-- Returns what was parked last, 20 rows at most.

select (extract(epoch from p.parked_at) * 1000000)::bigint as parked_us, p.subject_id, p.kind, p.user_id, p.reason
from tacet.parked p
order by p.parked_at desc
limit 20;
