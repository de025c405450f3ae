-- Orders of the application, which are told to their buyer in the language of each device. Played after demo.sql.

create table public.orders (
  id uuid primary key default gen_random_uuid(),
  buyer_id uuid not null references public.profiles (id),
  seller_id uuid not null references public.profiles (id),
  item_count int not null
);

create function public.order_recipients(subject_id uuid) returns setof uuid
language sql stable
as $$ select o.buyer_id from public.orders o where o.id = subject_id $$;

select tacet.watch(
  kind => 'order_shipped', source => 'public.orders', recipients => 'public.order_recipients', actor => 'seller_id',
  title => '{actor} has sent your order', body => '{item_count} items are on their way');

select tacet.localise('order_shipped', 'de', '{actor} hat deine Bestellung verschickt', '{item_count} Artikel sind unterwegs');
select tacet.localise(
  'order_shipped', 'pl', 'Zamówienie od {actor} jest w drodze', 'Jedzie {item_count} rzeczy', counted => 'item_count',
  plural => '{"one": {"body": "Jedzie {item_count} rzecz"}, "few": {"body": "Jadą {item_count} rzeczy"}}');
select tacet.localise('order_shipped', 'ar', 'أرسل {actor} طلبك', '{item_count}');

-- Ines has a phone, a tablet, a phone for work and one that nobody has set up.
with buyer as (
  insert into public.profiles (name) values ('Ines') returning id
), seller as (
  insert into public.profiles (name) values ('Jana') returning id
)
insert into public.push_tokens (user_id, device_token)
select buyer.id, encode(sha256(convert_to(buyer.id::text || n, 'UTF8')), 'hex') from buyer, generate_series(1, 4) n;

grant select, insert on public.orders to app;
