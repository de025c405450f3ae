-- Stores how engaged users are, if that is due. Returns after how long to ask again; see tacet.analyse_engagement.

select (extract(epoch from tacet.analyse_engagement()) * 1000000)::bigint as due_us;
