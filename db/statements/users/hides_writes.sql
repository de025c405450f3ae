-- Returns whether row-level security hides from a function of the host contract the rows that it should write.
--
--   :function         text                   the function
--   :table_name       text                   the table that it writes by default
--   :conversation_id  tacet.conversation_id  a conversation

select tacet.hides_writes(:function, :table_name, :conversation_id);
