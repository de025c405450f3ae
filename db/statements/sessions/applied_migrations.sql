-- Returns the versions that were applied.

select version from tacet.migrations;
