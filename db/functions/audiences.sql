-- Audiences of campaigns, with the columns that not all of them have.

-- A query for a campaign's audience: user_id, time_zone, which is tacet.user_time_zone where the function says null, and gap_days, and
-- null for each of these that the function lacks:
--
--   local_time  time   when the user wants its push; null for the campaign's hour
--   slots       jsonb  the user's own slots: [{"slot": "0800", "phase": "morning", "weekdays": [1, 2]}, ...]; null for the definition's
--   refusal     text   why the user gets no push of the campaign, as the host says it; null when nothing is known against it
--
-- moment, only_user: how the query names the function's arguments, such as $1.
create or replace function tacet.audience_query(audience text, moment text, only_user text)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format(
    'select a.user_id, coalesce(a.time_zone, tacet.user_time_zone(a.user_id)) as time_zone, a.gap_days, '
    '%s as local_time, %s as slots, %s as refusal from %s(%s, %s) a',
    case when tacet.audience_says(audience_query.audience, 'local_time') then 'a.local_time' else 'null::time' end,
    case when tacet.audience_says(audience_query.audience, 'slots') then 'a.slots' else 'null::jsonb' end,
    case when tacet.audience_says(audience_query.audience, 'refusal') then 'a.refusal' else 'null::text' end,
    audience_query.audience::regproc, audience_query.moment, audience_query.only_user)
$$;

create or replace function tacet.audience_says(audience text, name text)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select audience_says.name = any (p.proargnames) from pg_proc p where p.oid = audience_says.audience::regproc
$$;

-- An expression for the material of a user, by a function (user_id, moment) returns jsonb, or (user_id, moment, time_zone) returns
-- table (material jsonb), which in SQL and without a SET clause becomes a part of the statement that asks for many users.
create or replace function tacet.material_query(material text, user_id text, moment text, time_zone text)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select format(
    case when p.proretset then '(select m.material from %s(%s, %s, %s) m limit 1)' else '%s(%s, %s)' end, p.oid::regproc,
    material_query.user_id, material_query.moment, material_query.time_zone)
  from pg_proc p
  where p.oid = material_query.material::regproc
$$;

-- How a campaign's push is shown, from the presentation of its definition: {{name}} in its texts is a member of named. An image_key
-- becomes the address of a picture under the flag imageBaseURL, and nothing without that flag. A campaign without a presentation has
-- an empty one.
create or replace function tacet.campaign_presentation(presentation jsonb, named jsonb)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(f.filled, '{}') - 'image_key' || coalesce(
    (
      select jsonb_build_object('image_url', format('%s%s.png', c.value #>> '{}', f.filled ->> 'image_key'))
      from tacet.notif_config c
      where c.name = 'imageBaseURL' and f.filled ->> 'image_key' <> ''
    ),
    '{}')
  from (
    select tacet.fill_presentation(
      (
        select jsonb_object_agg(
          m.key,
          case when jsonb_typeof(m.value) = 'string'
            then to_jsonb(replace(replace(m.value #>> '{}', '{{', '{'), '}}', '}')) else m.value
          end)
        from jsonb_each(campaign_presentation.presentation) m
      ),
      campaign_presentation.named) as filled
  ) f
$$;
