-- Says for half a minute more that the service listens; triggers do not notify otherwise. Every listener says it every
-- few seconds; a row that was renewed just now is left alone.

update tacet.settings s
set listening_until = clock_timestamp() + interval '30 seconds'
where s.listening_until is null or s.listening_until < clock_timestamp() + interval '25 seconds';
