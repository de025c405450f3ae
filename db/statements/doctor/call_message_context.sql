-- Calls a function of the host contract with arguments that name nobody: it runs, finds no row and changes nothing.

select count(*) from tacet.message_context(null);
