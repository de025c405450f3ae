-- Returns who has a device token that begins like this.
--
--   :beginning   text    the beginning, in lower case
--   :owners_max  bigint  owners at most

select o.user_id, left(lower(o.device_token), 8) as device
from tacet.device_token_owners(:beginning, :owners_max::int) o
where o.user_id is not null;
