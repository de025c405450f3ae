-- Returns whether any migration was ever applied. A table of this name alone is the host's.

select to_regclass('tacet.migrations') is not null and to_regclass('tacet.host_additions') is not null;
