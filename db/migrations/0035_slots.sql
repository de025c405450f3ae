-- Slots: pushes at wall-clock times of a user's day, whose texts are rendered ahead.
--
-- Locks: ACCESS EXCLUSIVE for an instant on tacet.campaigns and tacet.pushes, whose rows are not rewritten. A running older service is not affected.

set client_min_messages = warning;

-- A slot of a user in a campaign: a time of the user's day, such as 0800.
--
-- next_fire_at, fire_date: when the next row of tacet.notif_deliveries for it is due; null while the slot is off. available_at: when that
-- row may be rendered; a claim sets it to the end of its lease. delivered_at: when its last row was last sent on request. is_on:
-- whether the user has the campaign on; the same in all of the user's slots of it. is_chosen: whether the user has chosen the
-- slots, so that the campaign's own do not replace them. phase: of slots of which one a day is sent, wherever it is moved.
create table if not exists tacet.slots (
  next_fire_at timestamptz,
  available_at timestamptz,
  delivered_at timestamptz,
  fire_date date,
  user_id tacet.user_id not null,
  attempts int not null default 0,
  is_on boolean not null default true,
  is_enabled boolean not null default true,
  is_chosen boolean not null default false,
  campaign text not null,
  slot text not null check (slot ~ '^([01][0-9]|2[0-3])[0-5][0-9]$'),
  phase text check (phase ~ '^[a-z][a-z0-9_]{0,62}$'),
  time_zone text not null,
  weekdays smallint[] not null default '{1,2,3,4,5,6,7}' check (weekdays <@ '{1,2,3,4,5,6,7}'),
  primary key (user_id, campaign, slot)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create index if not exists slots_available_idx on tacet.slots (available_at);

-- What a slot says on one of the user's days: rendered before it is due, read by apps that arm it, and pushed from here.
--
-- fire_date: the user's day. available_at: when it may be claimed; a claim sets it to the end of its lease, and infinity is
-- for rows that the device shows. armed_by: device tokens that show it without a push. content_key: of the host's document
-- that it is made of. push_id: of the push that was queued.
create table if not exists tacet.notif_deliveries (
  fire_at timestamptz not null,
  available_at timestamptz not null,
  rendered_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp(),
  push_id uuid,
  fire_date date not null,
  user_id tacet.user_id not null,
  attempts int not null default 0,
  campaign text not null,
  slot text not null,
  phase text,
  time_zone text not null,
  status text not null default 'scheduled'
    check (status in ('scheduled', 'armed', 'sent', 'delivered', 'opened', 'skipped', 'cancelled', 'failed')),
  reason text,
  title text,
  body text,
  category text,
  data json,
  armed_by text[] not null default '{}',
  primary key (user_id, campaign, slot, fire_date)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

-- Only claims name the end of available_at, so that no look at some users' rows takes this index while the table is believed empty.
create index if not exists notif_deliveries_available_idx on tacet.notif_deliveries (available_at)
  where status in ('scheduled', 'armed') and available_at < 'infinity';
create index if not exists notif_deliveries_fire_idx on tacet.notif_deliveries (fire_at);
create index if not exists notif_deliveries_push_idx on tacet.notif_deliveries (push_id) where push_id is not null;
-- One of each phase a day, also after the user has moved the slot.
create unique index if not exists notif_deliveries_phase_idx on tacet.notif_deliveries (user_id, campaign, phase, fire_date)
  where phase is not null and status <> 'cancelled';

-- A user's schedule. run_at: when it was last rendered on request. told_at: when the user's devices were last told to read it again,
-- or will be.
create table if not exists tacet.schedules (
  run_at timestamptz,
  told_at timestamptz,
  user_id tacet.user_id primary key
);

-- What slot campaigns have fetched from their hosts: one document for all users of a slot, or one for each user.
--
-- fetched_at: of the last answer 200 or 304. fresh_until: how long the document may be used. attempted_at, fire_date: of the last
-- attempt, and the day that it was for. A day has one attempt, which counts as made when its process dies. url, etag: of the
-- document; the URL is the campaign's, with {user_id} as it is. failure_code: of the last attempt; null when it has succeeded or
-- is under way. owner: the user in the key, which takes no null; the letter keeps the document of all users apart from that of a user
-- whose id is an empty text.
create table if not exists tacet.notif_contents (
  attempted_at timestamptz not null default clock_timestamp(),
  fetched_at timestamptz,
  fresh_until timestamptz,
  fire_date date not null,
  user_id tacet.user_id,
  campaign text not null,
  slot text not null check (slot ~ '^([01][0-9]|2[0-3])[0-5][0-9]$'),
  url text,
  etag text,
  failure_code text,
  document jsonb check (
    jsonb_typeof(document) = 'object' and not jsonb_path_exists(document, 'strict $.* ? (@.type() <> "string")')
  ),
  owner text generated always as (coalesce('u' || user_id::text, '')) stored,
  primary key (campaign, slot, owner)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create index if not exists notif_contents_user_idx on tacet.notif_contents (user_id) where user_id is not null;

-- Flags of all slot campaigns that differ from the service's defaults, by the names that apps know.
create table if not exists tacet.notif_config (
  changed_at timestamptz not null default clock_timestamp(),
  name text primary key,
  value jsonb not null,
  check (
    case name
      when 'mode' then value in ('"online_first"', '"offline_first"')
      when 'prefetchRunner' then value in ('"none"', '"background-runner"')
      when 'scheduler' then value = '"auto"'
      when 'prefetchLeadMinutes' then value::text ~ '^[1-9][0-9]{0,3}$' and value <= '1440'
      when 'ttlSeconds' then value::text ~ '^[1-9][0-9]{0,6}$' and value <= '1209600'
      when 'runnerRearm' then jsonb_typeof(value) = 'boolean'
      when 'iosCategoryIdentifier' then value::text ~ '^"[A-Za-z0-9_.-]{1,100}"$'
      when 'androidChannelId' then value::text ~ '^"[A-Za-z0-9_.-]{1,100}"$'
      else false
    end
  )
);

-- What apps report, once each: acknowledgements and codes of slots, and actions on them.
create table if not exists tacet.notif_events (
  received_at timestamptz not null default clock_timestamp(),
  happened_at timestamptz not null,
  id uuid not null,
  user_id tacet.user_id not null,
  code text not null,
  identifier text,
  device_token text,
  primary key (user_id, id)
);

create index if not exists notif_events_received_idx on tacet.notif_events (received_at);

-- What a device has reported of what it may show. tolerance_seconds: of its alarms.
create table if not exists tacet.device_permissions (
  changed_at timestamptz not null default clock_timestamp(),
  user_id tacet.user_id not null,
  tolerance_seconds int not null default 0,
  is_denied boolean not null default false,
  device_token text primary key
);

create index if not exists device_permissions_user_idx on tacet.device_permissions (user_id);

-- on_action: a function (user_id tacet.user_id, action text, day date, moment timestamptz) returns jsonb, called when a user takes
-- an action of one of its notifications; null for none.
alter table tacet.campaigns add column if not exists on_action text;

-- excluded_devices: tokens that get no push, separated by blanks.
alter table tacet.pushes add column if not exists excluded_devices text;

-- Rituals: two micro-actions a day. The host makes the campaign active when it has their tables (db/examples/ritual.sql) or functions
-- that take their place. is_scheduled: slots start it, not hours.
insert into tacet.campaigns (
  is_active, is_scheduled, needs_no_session, name, audience, material, on_action, push_types, definition
)
values (
  false, false, false, 'ritual', 'tacet.ritual_audience', 'tacet.ritual_material', 'tacet.ritual_action', '{ritual}',
  $json$
    {
      "slots": [{"slot": "0800", "phase": "morning"}, {"slot": "2000", "phase": "evening"}],
      "way": "auto",
      "category": {"id": "TERRAIN_RITUAL", "actions": [
        {"id": "DID_THIS", "title": "Did This ✓", "foreground": false},
        {"id": "START_RITUAL", "title": "Start Ritual →", "foreground": true}]},
      "pools": {
        "cold.morning": [
          {"text": "Drink a glass of warm water", "seconds": "10"},
          {"text": "Rub your palms together briskly for 10 seconds", "seconds": "10"},
          {"text": "Place your warm palms over your lower back", "seconds": "15"},
          {"text": "Stretch your arms overhead and take 3 deep breaths", "seconds": "15"},
          {"text": "Roll your ankles slowly — 5 circles each direction", "seconds": "20"},
          {"text": "Press your thumb into the center of your palm for 5 seconds", "seconds": "10"},
          {"text": "Gently massage your earlobes for 10 seconds", "seconds": "10"}],
        "cold.evening": [
          {"text": "Place your hands on your lower belly and breathe deeply", "seconds": "15"},
          {"text": "Sip warm water before bed", "seconds": "10"},
          {"text": "Rub the soles of your feet gently for 15 seconds", "seconds": "15"},
          {"text": "Take 3 slow breaths, imagining warmth spreading inward", "seconds": "15"},
          {"text": "Gently press the space between your eyebrows for 5 seconds", "seconds": "10"},
          {"text": "Roll your shoulders backward slowly 5 times", "seconds": "15"},
          {"text": "Cup your palms over your closed eyes and relax your jaw", "seconds": "15"}],
        "warm.morning": [
          {"text": "Drink room-temperature water with a slow exhale", "seconds": "10"},
          {"text": "Splash cool water on your wrists and inner elbows", "seconds": "10"},
          {"text": "Take 3 breaths — inhale 4 counts, exhale 6 counts", "seconds": "20"},
          {"text": "Gently press your temples with your fingertips for 5 seconds", "seconds": "10"},
          {"text": "Open a window and take 3 deep breaths of fresh air", "seconds": "15"},
          {"text": "Close your eyes and unclench your jaw for 10 seconds", "seconds": "10"},
          {"text": "Roll your neck slowly — 3 circles each direction", "seconds": "20"}],
        "warm.evening": [
          {"text": "Take 3 slow exhales through your mouth", "seconds": "15"},
          {"text": "Press your thumbs into your temples gently for 10 seconds", "seconds": "10"},
          {"text": "Place a cool cloth on the back of your neck", "seconds": "15"},
          {"text": "Close your eyes and count 5 slow breaths", "seconds": "20"},
          {"text": "Gently shake out your hands for 10 seconds to release tension", "seconds": "10"},
          {"text": "Rest your palms face-up on your knees and breathe", "seconds": "15"},
          {"text": "Soften your forehead and relax your tongue from the roof of your mouth", "seconds": "10"}],
        "neutral.morning": [
          {"text": "Take 3 deep breaths by a window", "seconds": "15"},
          {"text": "Roll your shoulders back 5 times", "seconds": "15"},
          {"text": "Stand tall and press your feet into the floor for 10 seconds", "seconds": "10"},
          {"text": "Tap the top of your head lightly with your fingertips", "seconds": "10"},
          {"text": "Stretch your arms wide and take one big breath", "seconds": "10"},
          {"text": "Rub your hands together and place them over your eyes", "seconds": "15"},
          {"text": "Interlace your fingers overhead and lean gently to each side", "seconds": "15"}],
        "neutral.evening": [
          {"text": "Drop your shoulders away from your ears", "seconds": "10"},
          {"text": "Close your eyes and count 5 breaths", "seconds": "20"},
          {"text": "Place one hand on your chest and one on your belly — breathe slowly", "seconds": "15"},
          {"text": "Gently massage the web between your thumb and index finger", "seconds": "15"},
          {"text": "Relax your tongue and soften the muscles around your eyes", "seconds": "10"},
          {"text": "Take a slow sip of warm water and notice the warmth", "seconds": "10"},
          {"text": "Rock gently from your heels to your toes 5 times", "seconds": "15"}]},
      "pool": "{{group}}.{{phase}}",
      "texts": [
        {"if": {"is_onboarded": "true", "phase": "morning", "streak": {"above": 3}},
          "title": "Day {{streak}} — your {{nickname}} rhythm", "body": "{{text}} ({{seconds}} sec)"},
        {"if": {"is_onboarded": "true", "phase": "evening", "streak": {"above": 3}},
          "title": "Day {{streak}} — wind-down time", "body": "{{text}} ({{seconds}} sec)"},
        {"if": {"is_onboarded": "true", "phase": "morning"},
          "title": "Your {{nickname}} body thrives with {{principle}}", "body": "{{text}} ({{seconds}} sec)"},
        {"if": {"is_onboarded": "true", "phase": "evening"},
          "title": "Time to settle your {{nickname}} pattern", "body": "{{text}} ({{seconds}} sec)"},
        {"if": {"phase": "morning"},
          "title": "Good morning", "body": "Your daily routine is ready."},
        {"if": {"phase": "evening"},
          "title": "Good evening", "body": "Your daily routine is ready."}],
      "payload": {"action": "open_do"}
    }
  $json$
)
on conflict (name) do nothing;

insert into tacet.migrations (version, name) values (35, '0035_slots') on conflict do nothing;

reset client_min_messages;
