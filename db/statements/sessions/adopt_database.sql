-- Makes the database this service's own.
--
--   :keeps_waiting  boolean  whether what waits is kept

select a.what, a.dropped from tacet.adopt_database(:keeps_waiting) a;
