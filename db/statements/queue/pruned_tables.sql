-- Returns the tables whose old rows are deleted.

select name from tacet.retentions();
