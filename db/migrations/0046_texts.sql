-- Texts of watched kinds in other locales; see tacet.localise.
--
-- Locks: none but on the new table. An older service shows the kind's own text to all.

set client_min_messages = warning;

-- locale: a BCP 47 language tag, such as de or pt-BR. title, subtitle, body: null for that of the kind. counted: the column with
-- the number that the texts are about; null for none. plural: texts by CLDR's category of that number, where they differ.
create table if not exists tacet.texts (
  changed_at timestamptz not null default clock_timestamp(),
  kind text not null check (kind ~ '^[a-z][a-z0-9_]{0,62}$'),
  locale text not null check (locale ~ '^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$'),
  title text check (char_length(title) between 1 and 256),
  subtitle text check (char_length(subtitle) <= 256),
  body text check (char_length(body) <= 2048),
  counted name,
  plural jsonb not null default '{}' check (jsonb_typeof(plural) = 'object' and octet_length(plural::text) <= 32768),
  primary key (kind, locale)
);

insert into tacet.migrations (version, name) values (46, '0046_texts') on conflict do nothing;

reset client_min_messages;
