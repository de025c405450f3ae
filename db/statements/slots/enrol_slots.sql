-- Follows a campaign's audience for a page of users; see tacet.enrol_slots.
--
--   :campaign       text           the campaign
--   :default_slots  text           the campaign's slots, as JSON
--   :are_new        boolean        users of the audience without slots, instead of those who have some
--   :after_user_id  tacet.user_id  the last user of the page before; null for the first page
--   :users_max      bigint         users at most
--   :lead_us        bigint         how long before it is due a row may be rendered

select e.enrolled, e.moved, e.last_user
from tacet.enrol_slots(:campaign, :default_slots::jsonb, :are_new, :after_user_id, :users_max, :lead_us) e;
