-- Returns processes of the service.
--
--   :instance_ids  text[]  their ids

select jsonb_build_object('id', i.id, 'host', i.host, 'pid', i.pid)::text
from tacet.instances i
where i.id = any (:instance_ids);
