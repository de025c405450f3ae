-- Caps are kept for each user and cap group, where one cap was shared by all campaigns.
--
-- Locks: ACCESS EXCLUSIVE for an instant on tacet.campaigns, and on tacet.frequency_caps while its primary key is built.
-- Nothing is rewritten. A running older service is not affected.

-- What exists is skipped without a notice.
set client_min_messages = warning;

-- cap_group: the campaigns with which this one shares a cap; null for no cap. The existing campaigns shared one until now, so
-- all of them, the coach included, are of one group. A new one has none.
alter table tacet.campaigns add column if not exists cap_group text
  default 'check_in' check (cap_group ~ '^[a-z][a-z0-9_]{0,62}$');
alter table tacet.campaigns alter column cap_group drop default;

-- A user's newest push of the campaigns of a group. The row is the lock under which the next one is decided. The default is
-- for functions from before this column, which are called until the new ones are applied.
alter table tacet.frequency_caps add column if not exists cap_group text not null default 'check_in';

do $$
begin
  if not exists (
    select
    from pg_constraint c
    where c.conrelid = 'tacet.frequency_caps'::regclass and c.contype = 'p' and cardinality(c.conkey) = 2
  ) then
    alter table tacet.frequency_caps
      drop constraint frequency_caps_pkey,
      add constraint frequency_caps_pkey primary key (user_id, cap_group);
  end if;
end
$$;

insert into tacet.migrations (version, name) values (32, '0032_cap_groups') on conflict do nothing;

reset client_min_messages;
