-- A role for the service with the rights that it needs on the tables of the default contract, and no others. Applied after
-- `tacet migrate`, by the role that owns the tables. The policies let it through row-level security, and change nothing where a table has
-- none; a role with BYPASSRLS needs none of them. Under FORCE ROW LEVEL SECURITY the owner needs them too.
create role tacet_service login;
select tacet.grant_service('tacet_service');
grant usage on schema public to tacet_service;
grant select on public.messages, public.conversation_participants, public.profiles, public.push_tokens to tacet_service;
grant select on public.conversations to tacet_service;
grant update (last_seen, tacet_left_at) on public.conversation_participants to tacet_service;
grant update (read_by) on public.messages to tacet_service;
grant insert, update, delete on public.push_tokens to tacet_service;
create policy tacet_service on public.messages to tacet_service using (true) with check (true);
create policy tacet_service on public.conversations to tacet_service using (true) with check (true);
create policy tacet_service on public.conversation_participants to tacet_service using (true) with check (true);
create policy tacet_service on public.profiles to tacet_service using (true) with check (true);
create policy tacet_service on public.push_tokens to tacet_service using (true) with check (true);
