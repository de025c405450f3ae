-- Two people, a device of the second one, and a message to them. Each run sends another message.
insert into public.profiles (id, name) values
  ('00000000-0000-4000-8000-00000000000a', 'Clara'), ('00000000-0000-4000-8000-00000000000b', 'Robert')
  on conflict do nothing;
insert into public.conversations (id) values ('00000000-0000-4000-8000-00000000000c') on conflict do nothing;
insert into public.conversation_participants (conversation_id, user_id)
  select '00000000-0000-4000-8000-00000000000c', id from public.profiles on conflict do nothing;
insert into public.push_tokens (user_id, device_token) values ('00000000-0000-4000-8000-00000000000b', '00ff')
  on conflict do nothing;
insert into public.messages (conversation_id, from_id, text)
  values ('00000000-0000-4000-8000-00000000000c', '00000000-0000-4000-8000-00000000000a', 'Are you coming tonight?');
