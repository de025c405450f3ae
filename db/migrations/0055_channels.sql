-- Deleted messages are taken off the screens of all to whom they were pushed, and a device that has to wait keeps no other waiting.
--
-- Locks: ACCESS EXCLUSIVE for an instant on tacet.read_syncs and tacet.deliveries.

-- Null for messages that were deleted: their users are found in the ledger.
alter table tacet.read_syncs alter column user_id drop not null;

-- The devices that wait longer than the row, by their marks: a JSON object, as DeviceWait in Swift has it. Null for none.
alter table tacet.deliveries add column if not exists device_waits text;

insert into tacet.migrations (version, name) values (55, '0055_channels') on conflict do nothing;
