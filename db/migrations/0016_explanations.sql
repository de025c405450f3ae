-- What an explanation of a push looks up: the tokens that a user has lost, and when a push was opened.
--
-- Locks: ADD COLUMN takes ACCESS EXCLUSIVE on push_log for an instant and rewrites nothing. The index on push_tokens is
-- built while writers wait; build it CONCURRENTLY beforehand, under the same name, on a large table. A running older
-- service is not affected; it does not note the time.

-- opened_at: when the app said so first; null for what was opened before this migration.
alter table public.push_log add column if not exists opened_at timestamptz;

-- The index on the tokens that are in use is 0001's. Dropped ones are few, and kept to say when and why.
do $$
begin
  -- An equal one under another name will do. A database that an older 0001 was applied to cannot tell.
  if to_regprocedure('tacet.has_index(regclass, text, text)') is not null then
    if tacet.has_index('public.push_tokens', 'user_id', 'invalidated_at IS NOT NULL') then
      return;
    end if;
  end if;
  create index if not exists push_tokens_dropped_idx on public.push_tokens (user_id) where invalidated_at is not null;
exception
  when undefined_table or undefined_column or wrong_object_type then
    raise notice 'tacet: the host tables differ from the default; explanations say nothing of dropped tokens';
end
$$;

insert into tacet.migrations (version, name) values (16, '0016_explanations') on conflict do nothing;
