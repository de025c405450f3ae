-- Takes pushes of another sender in, from a table of the host.
--
--   :source          text    the table's name, as SQL has it
--   :subject_column  text    the column of the subjects
--   :user_column     text    the column of the recipients
--   :time_column     text    the column of the times
--   :kind_column     text    the column of the kinds; null for messages alone
--   :outcome_column  text    the column of the outcomes; null where all were sent
--   :pushed_words    text[]  outcomes of pushes that were sent, in small letters

select i.imported, i.left_out
from tacet.import_compared_table(
  :source, :subject_column, :user_column, :time_column, :kind_column, :outcome_column, :pushed_words) i;
