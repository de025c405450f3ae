-- Returns the badges of a full part's recipients, in the order of their ids; null for those who were not counted in time.
--
--   :user_ids  tacet.user_id[]  the recipients, in the order of their ids, each once

select tacet.unread_counts(:user_ids) as badges;
