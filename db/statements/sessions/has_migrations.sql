-- Returns whether any migration was ever applied.

select to_regclass('tacet.migrations') is not null;
