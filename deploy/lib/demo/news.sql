-- A slot whose text comes from a host, on top of ritual.sql. Variable: url, of the content.

create table demo.readers (
  name text primary key,
  user_id uuid not null
);

with profile as (
  insert into public.profiles (name) values ('Eli') returning id
), device as (
  insert into public.push_tokens (user_id, device_token, time_zone)
  select profile.id, encode(sha256(convert_to(profile.id::text, 'UTF8')), 'hex'), demo.noon_zone() from profile
)
insert into demo.readers (name, user_id) select 'Eli', profile.id from profile;

create function demo.news_audience(moment timestamptz, only_user uuid)
returns table (user_id uuid, time_zone text, gap_days int)
language sql stable
as $$
  select r.user_id, null::text, 1 from demo.readers r where only_user is null or r.user_id = only_user
$$;

create function demo.news_material(user_id uuid, moment timestamptz) returns jsonb
language sql stable
as $$ select '{}'::jsonb $$;

-- At three in the morning nothing comes by itself: it is noon for everybody here.
insert into tacet.campaigns (is_scheduled, needs_no_session, name, audience, material, push_types, definition)
values (false, false, 'news', 'demo.news_audience', 'demo.news_material', '{news}', jsonb_build_object(
  'slots', '[{"slot": "0300"}]'::jsonb, 'way', 'push', 'content', jsonb_build_object('url', :'url'),
  'texts', '[{"title": "{{headline}}", "body": "{{summary}}"}]'::jsonb));

-- The slot's next row is that of a day so many days from now, and is due in so many seconds, as for a clock that has gone on.
create function demo.make_news_due(days int, seconds int) returns void
language sql
as $$
  update tacet.slots s
  set
    fire_date = current_date + days, next_fire_at = clock_timestamp() + seconds * interval '1 second',
    available_at = clock_timestamp()
  where s.campaign = 'news'
$$;
