-- Counts the devices and Android apps that have registered a key to seal content for; of the first 200000 registrations.

select
  (
    select count(*)
    from (select x.wishes from tacet.target_wishes x limit 20 * 10000) w
    where w.wishes like '%"sealing_key"%'
  ) + (
    select count(*)
    from (select x.keys, x.dropped_at from tacet.targets x where x.channel = 'fcm' limit 20 * 10000) t
    where t.keys like '%"sealing_key"%' and t.dropped_at is null
  ) as keys;
