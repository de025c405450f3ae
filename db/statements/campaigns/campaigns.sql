-- Returns the active campaigns: name, definition, and whether hours start them.

select c.name, c.definition::text, c.is_scheduled from tacet.campaigns c where c.is_active order by c.name;
