-- Defaults of the host contract, whose functions db/CONTRACT.md describes: who gets no pushes, and from whom.

-- A user without a profile may. Where no column of public.profiles says such a thing, it is a constant, and the planner leaves it out
-- of the claim.
call tacet.provide('takes_pushes(tacet.user_id)', is_tried => true, definition => $default$
create or replace function tacet.takes_pushes(user_id tacet.user_id)
returns boolean
language sql stable -- unless profiles.shown
language plpgsql stable -- if profiles.shown
as $$
  select true -- unless profiles.shown
begin -- if profiles.shown
  return not exists (select from public.profiles p where p.id = takes_pushes.user_id and not shown(p)); -- if profiles.shown
end -- if profiles.shown
$$
$default$);

-- The default asks the tables of schema public that tacet.block_tables understands, and there nothing that is deleted or over. A role
-- of the service needs select on them: with its owner's rights the function would run what somebody puts in their place. Without such
-- a table it is a constant, and the planner leaves it out of the claim.
do $do$
declare
  blocks text;
begin
  select string_agg(
    format(
      'exists (select from %s b where b.%I = has_blocked.user_id and b.%I = has_blocked.sender_id%s)', b.table_name,
      b.blocker_column, b.blocked_column, (
        select string_agg(format(' and %sb.%I%s', r.before, r.column_name, r.after), '' order by r.column_name)
        from tacet.hidden_rows(array[c.relname::text]) r
        where r.relation = b.relation and r.place = 'block' and r.before is not null
      )),
    e'\n    or ' order by b.table_name)
  into blocks
  from tacet.block_tables() b
  join pg_class c on c.oid = b.relation
  where c.relnamespace = 'public'::regnamespace and 2 = (
    select count(*)
    from pg_attribute a
    where a.attrelid = b.relation and a.attname in (b.blocker_column, b.blocked_column)
      and case 'tacet.user_id'
        when 'bigint' then a.atttypid in ('int2'::regtype, 'int4'::regtype, 'int8'::regtype)
        when 'text' then a.atttypid in ('text'::regtype, 'varchar'::regtype)
        else a.atttypid = 'tacet.user_id'::regtype
      end
  );
  call tacet.provide('has_blocked(tacet.user_id, tacet.user_id)', is_tried => true, definition => case
    when blocks is null then $default$
create or replace function tacet.has_blocked(user_id tacet.user_id, sender_id tacet.user_id)
returns boolean
language sql stable
as $$
  select false
$$
$default$
    else format($default$
create or replace function tacet.has_blocked(user_id tacet.user_id, sender_id tacet.user_id)
returns boolean
language plpgsql stable
as $$
begin
  return %s;
end
$$
$default$, blocks)
  end);
end
$do$;
