-- What a claim costs: the badge's count is planned once in a session.
--
-- Locks: only a function is replaced. A running older service is not affected; it counts faster too.
--
-- A function in plain SQL that aggregates is not inlined into the statement that calls it: it is planned anew in every
-- claim, which took longer than the counting. PL/pgSQL keeps the plan for the session.

set check_function_bodies = off;

-- A host that has replaced it keeps its own.
do $$
begin
  if md5((
    select regexp_replace(p.prosrc, '\s+', ' ', 'g')
    from pg_proc p
    where p.oid = to_regprocedure('tacet.unread_count(uuid)')
  )) = '98501dcf21cd6749ae9ed5b6c169c3fd' then
    create or replace function tacet.unread_count(user_id uuid)
    returns bigint
    language plpgsql stable
    as $function$
    #variable_conflict use_column
    begin
      return (
        select count(*)
        from public.conversation_participants c
        join public.messages m on m.conversation_id = c.conversation_id
        where c.user_id = unread_count.user_id
          and m.from_id <> unread_count.user_id
          and not (m.read_by @> array[unread_count.user_id]));
    end
    $function$;
  end if;
end
$$;

reset check_function_bodies;

insert into tacet.migrations (version, name) values (17, '0017_pace') on conflict do nothing;
