-- Replaces a user's preferences, unless the time zone is unknown. Returns whether it did.
--
--   :user_id           tacet.user_id            the user
--   :quiet_start       integer                  when quiet hours begin, minutes after midnight; null for none
--   :quiet_end         integer                  when quiet hours end, minutes after midnight; null for none
--   :quiet_zone        text                     the time zone of quiet hours; null for none
--   :quiet_policy      text                     what happens in quiet hours; null for none
--   :disabled_kinds    text[]                   kinds that are not pushed
--   :conversation_ids  tacet.conversation_id[]  conversations, one element for each
--   :muted             boolean[]                whether it is muted
--   :muted_until_us    bigint[]                 until when it is muted, since 1970; null for always
--   :mentions_only     boolean[]                whether only mentions are pushed
--   :content           text                     what pushes may say; null for no choice
--   :unread_kinds      text[]                   kinds with a wish for push.unread, one element for each
--   :unread_seconds    bigint[]                 after how long; null for never
--
-- It waits for the disk, whatever the session does otherwise, because the app does not ask again.

with durable as materialized (select set_config('synchronous_commit', 'on', true)), put as materialized (
  select
    tacet.put_preferences(
      :user_id, time '00:00' + :quiet_start * interval '1 minute', time '00:00' + :quiet_end * interval '1 minute',
      zone.known, :quiet_policy, :disabled_kinds, :conversation_ids, :muted,
      array(
        select timestamptz 'epoch' + u.us * interval '1 microsecond'
        from unnest(:muted_until_us) with ordinality as u (us, place)
        order by u.place),
      :mentions_only),
    tacet.choose_content(:user_id, :content),
    tacet.put_unread_preferences(
      :user_id, :unread_kinds,
      array(
        select u.seconds * interval '1 second'
        from unnest(:unread_seconds) with ordinality as u (seconds, place)
        order by u.place))
  from durable
  cross join (select tacet.known_zone(:quiet_zone) as known offset 0) zone
  where :quiet_zone::text is null or zone.known is not null
)
select count(*) = 1 from put;
