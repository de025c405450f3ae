-- A day of the ledger for deploy/bench replay: pushes whose histories are what the rules make of their facts. `tacet replay` itself
-- checks that they are. Filled by a superuser, without triggers.

-- How pushes end, by weight. Of each claim: a1, a2 when; of the first s since the recipient was seen, due until the hold ends; between
-- both wait, r when something was learnt. f the surface. Microseconds.
create table measure.stories (
  weight int not null,
  -- Up to which share of the pushes, in thousandths.
  share int,
  decision text not null,
  reason text,
  history text not null
);

insert into measure.stories (weight, decision, reason, history)
select
  s.weight, s.decision, s.reason,
  (
    select '[' || string_agg(replace(c.claim, '@limits', '"devices":1,"window_us":60000000,"ttl_us":3600000000'), ',' order by c.n) || ']'
    from unnest(s.claims) with ordinality as c (claim, n)
  )
from (
  values
    (500, 'sent', null, array[
      '{"claim":1,"at":@a1,"by":"0123abcd","woken_by":"notify","woken_us":310,"decided_us":420,"surface":"@f","known":{"message_us":2000,"seen_us":600000000,@limits},"decision":"sent","attempts":[{"device":"c0ffee17","route":"com.example.app/production","ended_us":1800,"status":200,"apns_id":"0b6f9a52-53c4-4d3c-9d0c-5f2c4f3b8f11","verdict":"accepted"}]}']),
    (100, 'sent', null, array[
      '{"claim":1,"at":@a1,"by":"0123abcd","woken_by":"notify","surface":"@f","known":{"message_us":2000,"seen_us":@s1,@limits},"decision":"held","reason":"user_viewing","due_us":@due,"remaining":"held"}',
      '{"claim":2,"at":@end,"by":"0123abcd","woken_by":"due","surface":"@f","known":{"message_us":@age,"held_us":@due,"seen_us":60001000,@limits},"decision":"sent","attempts":[{"device":"c0ffee17","route":"com.example.app/production","ended_us":1800,"status":200,"verdict":"accepted"}]}']),
    (80, 'skipped', 'already_read', array[
      '{"claim":1,"at":@a1,"by":"0123abcd","woken_by":"notify","surface":"@f","known":{"message_us":2000,"seen_us":@s1,@limits},"decision":"held","reason":"user_viewing","due_us":@due,"remaining":"held"}',
      '{"claim":2,"at":@a2,"by":"0123abcd","woken_by":"notify","released_by":"read","released_at":@r,"surface":"@f","known":{"message_us":@m2,"held_us":@wait,"read":true,"seen_us":@s2,@limits},"decision":"skipped","reason":"already_read"}']),
    (40, 'sent', null, array[
      '{"claim":1,"at":@a1,"by":"0123abcd","woken_by":"notify","surface":"@f","known":{"message_us":2000,"seen_us":@s1,@limits},"decision":"held","reason":"user_viewing","due_us":@due,"remaining":"held"}',
      '{"claim":2,"at":@a2,"by":"0123abcd","woken_by":"notify","released_by":"left","released_at":@r,"surface":"@f","known":{"message_us":@m2,"held_us":@wait,"left":true,"seen_us":@s2,@limits},"decision":"sent"}']),
    (30, 'skipped', 'user_viewing', array[
      '{"claim":1,"at":@a1,"by":"0123abcd","woken_by":"notify","surface":"@f","known":{"message_us":2000,"seen_us":@s1,@limits},"decision":"held","reason":"user_viewing","due_us":@due,"remaining":"held"}',
      '{"claim":2,"at":@a2,"by":"0123abcd","woken_by":"notify","released_by":"seen","released_at":@r,"surface":"@f","known":{"message_us":@m2,"held_us":@wait,"seen_after":true,"seen_us":1000,@limits},"decision":"skipped","reason":"user_viewing"}']),
    (80, 'skipped', 'already_read', array[
      '{"claim":1,"at":@a1,"by":"0123abcd","woken_by":"notify","surface":"@f","known":{"message_us":2000,"read":true,@limits},"decision":"skipped","reason":"already_read"}']),
    (40, 'skipped', 'muted', array[
      '{"claim":1,"at":@a1,"by":"0123abcd","woken_by":"notify","surface":"@f","known":{"message_us":2000,"muted":true,@limits},"decision":"skipped","reason":"muted"}']),
    (40, 'skipped', 'no_tokens', array[
      '{"claim":1,"at":@a1,"by":"0123abcd","woken_by":"notify","surface":"@f","known":{"message_us":2000,"devices":0,"window_us":60000000,"ttl_us":3600000000},"decision":"skipped","reason":"no_tokens"}']),
    (20, 'skipped', 'opted_out', array[
      '{"claim":1,"at":@a1,"by":"0123abcd","woken_by":"notify","surface":"@f","known":{"message_us":2000,"opted_out":true,@limits},"decision":"skipped","reason":"opted_out"}']),
    (20, 'skipped', 'not_mentioned', array[
      '{"claim":1,"at":@a1,"by":"0123abcd","woken_by":"notify","surface":"@f","known":{"message_us":2000,"mentions_only":true,@limits},"decision":"skipped","reason":"not_mentioned"}']),
    (20, 'sent', null, array[
      '{"claim":1,"at":@a1,"by":"0123abcd","woken_by":"notify","surface":"@f","known":{"message_us":2000,"quiet_us":@due,"quiet_policy":"hold",@limits},"decision":"held","reason":"quiet_hours","due_us":@due,"remaining":"held"}',
      '{"claim":2,"at":@end,"by":"0123abcd","woken_by":"due","surface":"@f","known":{"message_us":@age,"held_us":@due,@limits},"decision":"sent"}']),
    (30, 'sent', null, array[
      '{"claim":1,"at":@a1,"by":"0123abcd","woken_by":"notify","surface":"@f","known":{"message_us":2000,@limits},"decision":"held","reason":"TooManyRequests","due_us":1000000,"remaining":"retryable"}',
      '{"claim":2,"at":@a2,"by":"0123abcd","woken_by":"due","surface":"@f","known":{"message_us":@m2,@limits},"decision":"sent"}'])
) as s (weight, decision, reason, claims);

-- For format(), which takes its arguments by number.
update measure.stories s
set
  share = t.share,
  history = replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
    s.history, '%', '%%'), '@a1', '%1$s'), '@a2', '%2$s'), '@s1', '%3$s'), '@s2', '%4$s'), '@due', '%5$s'), '@wait', '%6$s'),
    '@end', '%7$s'), '@age', '%8$s'), '@m2', '%9$s'), '@r,', '%10$s,')
from (select h.ctid, sum(h.weight) over (order by h.ctid) as share from measure.stories h) t
where t.ctid = s.ctid;

update measure.stories set history = replace(history, '@f', '%11$s');

-- Pushes of a day that ends now, to 20,000 people in two conversations each.
create procedure measure.fill_recorded(pushes int)
language sql
as $$
  insert into tacet.push_log (
    id, enqueued_at, claimed_at, user_id, subject_id, push_type, decision, reason, woken_by, history)
  select
    gen_random_uuid(), timestamptz 'epoch' + p.at * interval '1 microsecond',
    timestamptz 'epoch' + (p.at + 2000) * interval '1 microsecond', measure.id('u', p.n % 20000), gen_random_uuid(), 'message',
    s.decision, s.reason, 'notify',
    format(
      s.history, p.at + 2000, p.at + 3000 + p.wait, p.seen, p.seen + p.wait + 1000, 60000000 - p.seen, p.wait,
      p.at + 60003000 - p.seen, 60003000 - p.seen, 3000 + p.wait, p.at + 2000 + p.wait, lpad(to_hex(p.n % 40000), 8, '0'))::jsonb
  from (
    select
      d.n, d.seen, d.share, d.beginning + d.n::bigint * 86400000000 / pushes as at,
      (d.part * (60000000 - d.seen))::bigint as wait
    from (
      select
        n, 1000000 + (random() * 58000000)::bigint as seen, random() as part, floor(random() * 1000) as share,
        (extract(epoch from now() - interval '1 day') * 1000000)::bigint as beginning
      from generate_series(0, pushes - 1) n
      offset 0
    ) d
    offset 0
  ) p
  cross join lateral (
    select * from measure.stories t where t.share > p.share order by t.share limit 1
  ) s;
$$;
