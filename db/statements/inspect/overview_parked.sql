-- Returns what was parked last, 20 rows at most.

select tacet.unix_us(p.parked_at) as parked_us, p.subject_id, p.kind, p.user_id, p.reason
from tacet.parked p
order by p.parked_at desc
limit 20;
