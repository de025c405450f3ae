-- Compares files of db/functions with what was applied last. Returns those that differ: their places from 0, their checksums.
--
--   :names  text[]  the files' names
--   :texts  text[]  their texts

select f.place::int - 1 as place, md5(f.text) as checksum
from unnest(:names, :texts) with ordinality as f (name, text, place)
left join tacet.function_files a on a.name = f.name
where a.checksum is distinct from md5(f.text)
order by f.place;
