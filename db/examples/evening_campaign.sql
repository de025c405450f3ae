-- An evening ritual on weekdays for all users who want check-ins, without a model. Applied after examples/coach.sql. It shares the cap of
-- the group check_in with the coach: one push a day for each user from both.
--
-- audience: a function (moment timestamptz, only_user uuid) returns table (user_id uuid, time_zone text, gap_days int); only_user null:
--   all. Further columns: local_time time for a later hour, slots jsonb, refusal text. gap_days: days between two pushes of the group.
-- material: a function (user_id uuid, moment timestamptz) returns jsonb, what is known of a user. With a third argument time_zone text and
--   returns table (material jsonb), in SQL without SET, many users are asked at once.
-- local_time, weekdays: when, by the user's clock; null for PUSH_TRIGGER_TIME. Monday is 1.
-- needs_no_session: whether a session today keeps it back.
-- push_types, cap_group: the types of its pushes; the group whose cap holds, null for none.
-- on_push: a function (user_id uuid, moment timestamptz), called in the transaction that queues a push.
-- is_active, is_scheduled: whether it runs; whether hours make it run, or only requests.
-- definition: when it comes, and its words. Layers are asked in order. Their push types are event_based, pattern_based, re_engagement, and
--   occasion, which always applies and is about the member occasion; lapse, with reengagement, is for users who were away. Or it has slots
--   instead (db/campaigns/ritual.sql).
--   texts: the first counts whose "if" holds, such as {"push_type": "event_based"}, {"streak": {"above": 3}} or {"name": {"known": true}}.
--   Lists of a title or body take turns by user and day. Names in braces are members of the material, and push_type, event, when, theme and
--   domain. A text that lacks a value is not sent. counted, plural and localised are as in tacet.localise, presentation as in tacet.watch;
--   its image_key names a picture: the flag imageBaseURL of tacet.notif_config, the key and .png.
--   composer: the model writes. {"task", "facts": members of the material, "seconds", "rules": "coach" or "plain", "on_failure":
--   "template", where the texts serve, or "skip"}. Without a task it writes check-ins.
insert into tacet.campaigns (
  name, local_time, weekdays, needs_no_session, audience, material, push_types, cap_group, definition)
values (
  'evening', '20:00', '{1,2,3,4,5}', false, 'tacet.check_in_audience', 'tacet.check_in_material', '{occasion}', 'check_in',
  '{"layers": ["occasion"], "occasion": "evening reflection",
    "texts": [{"title": ["How was today?", "Before the day ends"],
      "body": ["A minute for your {theme}, if you like.", "Is there something you would like to keep from it?"]}],
    "payload": {"action": "reflection"}}')
on conflict do nothing;
