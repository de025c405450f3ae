-- Records that a process lives, or that it is about to end.
--
--   :instance_id  text     its id
--   :host         text     its host
--   :process_id   bigint   its process id
--   :version      text     its version
--   :is_ending    boolean  whether it is about to end

insert into tacet.instances as i (id, host, pid, version, stopped_at)
values (:instance_id, :host, :process_id::bigint, :version, case when :is_ending then clock_timestamp() end)
on conflict (id) do update set seen_at = clock_timestamp(), stopped_at = excluded.stopped_at;
