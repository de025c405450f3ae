-- Decides which of the messages that may be pushed sound, and which fold into the notification of their burst.
--
--   :subject_ids  tacet.subject_id[]       the messages, one element for each recipient
--   :user_ids     tacet.user_id[]          the recipients
--   :surface_ids  tacet.conversation_id[]  the conversations
--   :enqueued_us  bigint[]                 when the messages were committed, since 1970
--   :looked_us    bigint[]                 when the recipients last looked, since 1970; null for unknown
--   :attempts     integer[]                the claims' attempts
--   :window_us    bigint                   how long a burst lasts
--   :settle_us    bigint                   between two updates of a notification
--
-- Returns a row for each element, in their order.

select f.verdict, f.first_subject, f.more, f.due_us
from tacet.fold_messages(
  :subject_ids, :user_ids, :surface_ids, :enqueued_us, :looked_us, :attempts, :window_us, :settle_us) f
order by f.place;
