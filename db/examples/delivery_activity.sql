-- Orders as Live Activities: an insert starts one on the buyer's devices, an update pushes the new state, and it ends with the delivery
-- or when the row is deleted. Types for workouts and meals come with Tacet; this one is new.

create table if not exists public.orders (
  id uuid primary key default gen_random_uuid(),
  buyer_id uuid not null,
  number int not null,
  stage text not null default 'packed',
  arrives_at timestamptz
);

-- name: of the attributes in Swift. attributes, state: their fields, string, int, number, bool or date, with ? where one may be missing.
-- first_state: what a start takes where no value is given. end_state: what an end changes. dismiss_after: how long it stays then.
insert into tacet.activity_types (name, attributes, state, first_state, end_state, dismiss_after, alert_title, alert_body)
values (
  'DeliveryAttributes',
  '{"orderNumber": "string"}',
  '{"stage": "string", "arrivesAt": "date?"}',
  '{"stage": "packed"}',
  '{"stage": "delivered", "arrivesAt": null}',
  '10 min',
  'Your order is on its way', 'Order {orderNumber}')
on conflict do nothing;

-- A type has one table; another call replaces the first. Expressions run with search_path = pg_catalog: qualify names. A field that is left
-- out has the type's default. `select tacet.unwatch_activity('DeliveryAttributes')` leaves what runs as it is.
select tacet.watch_activity(
  type => 'DeliveryAttributes',
  source => 'public.orders',
  user_column => 'buyer_id',
  fields => '{"orderNumber": "new.number::text", "stage": "new.stage", "arrivesAt": "new.arrives_at"}',
  ended_when => $$new.stage = 'delivered'$$);
