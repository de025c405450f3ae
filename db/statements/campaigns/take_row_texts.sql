-- Takes events of watched kinds whose bodies a language model writes.
--
--   :rows_max  integer  events at most

select r.kind, r.subject_id, r.user_id, r.composer, r.facts from tacet.take_row_texts(:rows_max) r;
