-- Compares files of db/migrations with what was applied. Returns the names of those that were applied with another text.
--
--   :versions  integer[]  the files' versions
--   :texts     text[]     their texts

select m.name
from unnest(:versions, :texts) as f (version, text)
join tacet.migrations m on m.version = f.version
where m.checksum <> md5(f.text)
order by m.version;
