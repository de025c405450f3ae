-- Deletes one batch of a table's old rows, and returns how many.
--
--   :table_name    text    one of tacet.retentions()
--   :retention_us  bigint  how long rows are kept

select tacet.prune(:table_name, :retention_us::bigint * interval '1 microsecond');
