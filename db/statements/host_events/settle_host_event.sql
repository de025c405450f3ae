-- Records what the host answered to an event; see tacet.settle_host_event. Returns its state; null if the claim is another's.
--
--   :event_id     bigint   the event
--   :attempt      integer  the attempt of the claim
--   :status       integer  the status of the answer; null without one
--   :error        text     what is wrong with it; null when the event was taken
--   :next_try_us  bigint   after how long to try again; null when the event was taken
--   :gives_up_us  bigint   how long after the first attempt an event is dead

select
  tacet.settle_host_event(
    :event_id, :attempt, :status, :error, :next_try_us * interval '1 microsecond', :gives_up_us * interval '1 microsecond');
