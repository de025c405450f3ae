-- Live Activities without broadcast channels.
--
-- Locks: ACCESS EXCLUSIVE for an instant on tacet.activities. An older service cannot run beside it.

set client_min_messages = warning;

do $$
begin
  if to_regclass('tacet.activity_channels') is not null then
    delete from tacet.activities a where a.user_id is null or a.channel is not null;
    alter table tacet.activities drop column channel cascade;
    drop table tacet.activity_channels;
    alter table tacet.activities alter column user_id set not null;
  end if;
end
$$;

insert into tacet.migrations (version, name, oldest_service) values (52, '0052_live_activities', 52) on conflict do nothing;

reset client_min_messages;
