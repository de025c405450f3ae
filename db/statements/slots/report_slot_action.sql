-- Notes an action of a user; see tacet.report_slot_action.
--
--   :user_id      tacet.user_id  the user
--   :event_id     uuid           the report's id
--   :action       text           the action
--   :identifier   text           the row's identifier
--   :campaign     text           its campaign
--   :slot         text           its slot
--   :fire_date    text           its day
--   :happened_us  bigint         when the action was taken, since 1970

select a.outcome, a.answer::text
from tacet.report_slot_action(
  :user_id, :event_id, :action, :identifier, :campaign, :slot, :fire_date::date,
  timestamptz 'epoch' + :happened_us * interval '1 microsecond') a;
