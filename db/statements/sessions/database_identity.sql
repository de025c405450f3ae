-- Returns which database the settings were written in, and which one this is. No row where row-level security hides it.

select s.database_identity as recorded, tacet.database_identity() as actual from tacet.settings s;
