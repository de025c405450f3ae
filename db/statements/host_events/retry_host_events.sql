-- Sends dead and waiting events to the host now; see tacet.retry_host_events. Returns how many.

select tacet.retry_host_events();
