-- Records the texts of migrations that were applied now.
--
--   :versions  integer[]  their versions
--   :texts     text[]     their texts

update tacet.migrations m
set checksum = md5(f.text)
from unnest(:versions, :texts) as f (version, text)
where f.version = m.version;
