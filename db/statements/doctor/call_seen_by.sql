-- Calls a function of the host contract with arguments that name nobody; see call_message_context.

select count(*) from tacet.seen_by(null);
