-- Notes a channel that is about to be made at Apple; see tacet.note_channel. Returns false when the id is taken.
--
--   :channel      text     the channel's name
--   :type         text     the name of the type of its states
--   :state        text     its first state as JSON; null for the type's
--   :app          text     the app; null for the default one
--   :environment  text     the environment; null for the app's
--   :storage      integer  0 keeps nothing, 1 the newest state

select tacet.note_channel(:channel, :type, :state::jsonb, :app, :environment, :storage);
